// SPDX-License-Identifier: Apache-2.0
// Shares of states in a mode (T101), summed by what they are states of, are what moves in it: a
// coordinate and its rate count together, and so do a displacement of a base and its velocity. A
// mode is called after the largest, or the two largest. Of vehicles with one steering joint, which
// is about an upright axis and carries a wheel, and with a base that can roll, some modes have
// names of their own (T311):
//
//   wobble   of the lateral oscillations, if there are several, that with most of the steering,
//            which is more than anything else in it
//   weave    of the other lateral oscillations the slowest
//   capsize  of what oscillates in a tenth of the rows or less, that with most of the rolling,
//   which is more than
//            anything else in it
//
// Lateral is what moves sideways, rolls, yaws and steers by half or more.
#include "linear/naming.h"

#include "base/arena.h"
#include "linear/modes.h"
#include "num/follow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODE_NAME = 140 };

struct Naming {
    System *system;
    const tr_locus *locus;
    uint32_t steering; // the velocity, or NO_INPUT
    uint32_t bases;
    double *shares;    // by eigenvalue, by input
    uint32_t *partner; // of each eigenvalue: that of the pair, or itself
    uint32_t *turning; // rows in which it has an imaginary part
    double *speed;     // sum of |l| over rows
};

// ---- what there is -------------------------------------------------------------------------

static bool carries_contact(const Scene *scene, uint32_t body)
{
    for (uint32_t i = 0; i < scene->contact_count; i++) {
        uint32_t at = scene->contacts[i].is_loop ? SCENE_WORLD : scene->contacts[i].body;
        while (at != SCENE_WORLD && at != body) at = scene->bodies[at].parent;
        if (at == body) return true;
    }
    return false;
}

// The part of a body's joint axis along the normal of the ground, where the lineariser stands
static double uprightness(Lineariser *l, const SceneBody *body, tr_error *err)
{
    System *s = tr_lineariser_system(l);
    double R[9], along = 0;
    Evaluator rotation = tr_evaluator_of(s, body->rotation, 9, OPEN_PARAMETERS, err);
    if (has_failed(err)) return 0;
    evaluate_into(&rotation, tr_lineariser_inputs(l), R);
    tr_evaluator_free(&rotation);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            along += s->scene.ground_normal[i] * R[3 * i + j] * body->axis[j];
    return fabs(along);
}

static void find_steering(Naming *n, Lineariser *l, tr_error *err)
{
    const System *s = n->system;
    uint32_t count = 0;
    n->steering = NO_INPUT;
    for (uint32_t i = 0; i < s->scene.body_count; i++) {
        const SceneBody *body = &s->scene.bodies[i];
        if (!body->coordinate || !body->coordinate[0] || strcmp(body->joint, "revolute") != 0 ||
            !carries_contact(&s->scene, i) || !(uprightness(l, body, err) > 0.5))
            continue;
        n->steering = tr_system_part(s, TR_VELOCITY, body->coordinate, "");
        count++;
    }
    if (count != 1) n->steering = NO_INPUT;
}

// The eigenvalue that is its conjugate in more than half of the rows
static void find_partners(Naming *n)
{
    const tr_locus *w = n->locus;
    for (uint32_t k = 0; k < w->count; k++) {
        uint32_t most = 0;
        n->partner[k] = k;
        for (uint32_t j = 0; j < w->count; j++) {
            uint32_t together = 0;
            for (size_t i = 0; i < w->rows; i++) {
                const double *a = w->eigenvalues + 2 * (i * w->count + k),
                             *b = w->eigenvalues + 2 * (i * w->count + j);
                together += a[1] != 0 && a[0] == b[0] && a[1] == -b[1];
            }
            if (together > most && 2 * (size_t)together > w->rows)
                most = together, n->partner[k] = j;
        }
        for (size_t i = 0; i < w->rows; i++) {
            const double *a = w->eigenvalues + 2 * (i * w->count + k);
            n->turning[k] += a[1] != 0, n->speed[k] += hypot(a[0], a[1]);
        }
    }
    for (uint32_t k = 0; k < w->count; k++)
        if (n->partner[n->partner[k]] != k) n->partner[k] = k;
}

Naming *tr_naming_new(Lineariser *l, const tr_locus *locus, tr_error *err)
{
    Naming *n = calloc(1, sizeof *n);
    if (!n) return tr_fail_memory(err), NULL;
    n->system = tr_lineariser_system(l), n->locus = locus;
    const size_t count = locus->count;
    n->shares = calloc(count * n->system->input_count + 1, sizeof *n->shares);
    n->partner = calloc(count + 1, sizeof *n->partner);
    n->turning = calloc(count + 1, sizeof *n->turning);
    n->speed = calloc(count + 1, sizeof *n->speed);
    if (!n->shares || !n->partner || !n->turning || !n->speed) tr_fail_memory(err);
    const char *base = NULL;
    for (uint32_t i = 0; i < n->system->input_count; i++) {
        const Input *input = &n->system->inputs[i];
        if (input->kind != TR_VELOCITY || !input->is_base) continue;
        if (!base || strcmp(base, input->port.owner) != 0) base = input->port.owner, n->bases++;
    }
    if (!has_failed(err)) find_partners(n), find_steering(n, l, err);
    if (!has_failed(err)) return n;
    tr_naming_free(n);
    return NULL;
}

void tr_naming_free(Naming *n)
{
    if (!n) return;
    free(n->shares);
    free(n->partner);
    free(n->turning);
    free(n->speed);
    free(n);
}

// ---- what moves ----------------------------------------------------------------------------

// The mode of a linear model that an eigenvalue is of
static uint32_t mode_of(const Modes *m, const double *value)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < m->count; k++)
        if (apart(m->values + 2 * (size_t)k, value) < apart(m->values + 2 * (size_t)best, value))
            best = k;
    return best;
}

bool tr_naming_add(Naming *n, const Linear *linear, size_t row, tr_error *err)
{
    Modes *m = tr_modes_new(linear, err);
    if (!m) return false;
    for (uint32_t k = 0; m->count && k < n->locus->count; k++) {
        const uint32_t at = mode_of(m, n->locus->eigenvalues + 2 * (row * n->locus->count + k));
        for (uint32_t i = 0; i < linear->states; i++) {
            const uint32_t of = tr_system_outer_input(n->system, linear->state_of[i]);
            n->shares[(size_t)k * n->system->input_count + of] +=
                m->shares[(size_t)at * m->count + i];
        }
    }
    tr_modes_free(m);
    return true;
}

static const double *shares_of(const Naming *n, uint32_t k)
{
    return n->shares + (size_t)k * n->system->input_count;
}

// Of a base along or about some of its axes, "vy wx wz"
static double base_share(const Naming *n, uint32_t k, const char *components)
{
    double sum = 0;
    for (uint32_t i = 0; i < n->system->input_count; i++) {
        const Input *input = &n->system->inputs[i];
        if (input->is_base && input->port.component[0] &&
            tr_is_listed(components, input->port.component))
            sum += shares_of(n, k)[i];
    }
    return sum;
}

static double largest_share(const Naming *n, uint32_t k, uint32_t but, uint32_t *which)
{
    double most = -1;
    for (uint32_t i = 0; i < n->system->input_count; i++)
        if (i != but && shares_of(n, k)[i] > most) most = shares_of(n, k)[i], *which = i;
    return most;
}

static double all_shares(const Naming *n, uint32_t k)
{
    double sum = 0;
    for (uint32_t i = 0; i < n->system->input_count; i++) sum += shares_of(n, k)[i];
    return sum;
}

// ---- names ---------------------------------------------------------------------------------

static void name_thing(const Naming *n, uint32_t i, char *out, size_t size)
{
    static const char *const moves[][2] = {{"vx", "forward"}, {"vy", "sideways"}, {"vz", "bounce"},
                                           {"wx", "roll"},    {"wy", "pitch"},    {"wz", "yaw"}};
    const Input *input = &n->system->inputs[i];
    const Port *port = &input->port;
    const char *word = NULL;
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++)
        if (input->is_base && strcmp(port->component, moves[k][0]) == 0) word = moves[k][1];
    if (word && n->bases > 1)
        snprintf(out, size, "%.40s %s", port->owner, word);
    else if (word)
        snprintf(out, size, "%s", word);
    else if (input->kind == TR_VELOCITY)
        snprintf(out, size, "%.50s", tr_system_joint_name(n->system, i));
    else
        snprintf(out, size, "%.50s", input->name + 8 * begins_with(input->name, "contact."));
}

static void name_by_shares(const Naming *n, uint32_t k, char out[MODE_NAME])
{
    uint32_t first = 0, second = 0;
    char a[60], b[60];
    const double most = largest_share(n, k, NO_INPUT, &first),
                 next = largest_share(n, k, first, &second);
    name_thing(n, first, a, sizeof a);
    name_thing(n, second, b, sizeof b);
    if (next > 0.5 * most)
        snprintf(out, MODE_NAME, "%s and %s", a, b);
    else
        snprintf(out, MODE_NAME, "%s", a);
}

static bool oscillates(const Naming *n, uint32_t k) { return 2 * n->turning[k] > n->locus->rows; }

static double steer_share(const Naming *n, uint32_t k) { return shares_of(n, k)[n->steering]; }

static bool is_lateral(const Naming *n, uint32_t k)
{
    return 2 * (base_share(n, k, "vy wx wz") + steer_share(n, k)) >= all_shares(n, k);
}

// Eigenvalues with names of their own, NO_INPUT where there is none
typedef struct Classics {
    uint32_t wobble, weave, capsize;
} Classics;

static Classics find_classics(const Naming *n)
{
    Classics c = {NO_INPUT, NO_INPUT, NO_INPUT};
    uint32_t pairs = 0, most = 0;
    bool rolls = false;
    if (n->steering == NO_INPUT || n->bases != 1) return c;
    for (uint32_t k = 0; k < n->locus->count; k++) {
        const bool first = k <= n->partner[k];
        const double roll = base_share(n, k, "wx");
        rolls = rolls || roll > 0;
        if (first && oscillates(n, k) && is_lateral(n, k)) {
            pairs++;
            if (c.wobble == NO_INPUT || steer_share(n, k) > steer_share(n, c.wobble)) c.wobble = k;
        }
        if (10 * n->turning[k] <= n->locus->rows && roll >= largest_share(n, k, NO_INPUT, &most) &&
            (c.capsize == NO_INPUT || roll > base_share(n, c.capsize, "wx")))
            c.capsize = k;
    }
    if (!rolls) return (Classics){NO_INPUT, NO_INPUT, NO_INPUT};
    if (pairs < 2 || steer_share(n, c.wobble) < largest_share(n, c.wobble, NO_INPUT, &most))
        c.wobble = NO_INPUT;
    for (uint32_t k = 0; k < n->locus->count; k++)
        if (k <= n->partner[k] && oscillates(n, k) && is_lateral(n, k) && k != c.wobble &&
            (c.weave == NO_INPUT || n->speed[k] < n->speed[c.weave]))
            c.weave = k;
    return c;
}

static void name_mode(const Naming *n, const Classics *c, uint32_t k, char out[MODE_NAME])
{
    const char *word = k == c->wobble    ? "wobble"
                       : k == c->weave   ? "weave"
                       : k == c->capsize ? "capsize"
                                         : NULL;
    if (word)
        snprintf(out, MODE_NAME, "%s", word);
    else
        name_by_shares(n, k, out);
}

// The second of a name is "travel 2".
static void tell_apart(char (*names)[MODE_NAME], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t same = 1;
        for (size_t j = i + 1; j < count; j++) {
            if (strcmp(names[i], names[j]) != 0) continue;
            const size_t length = strlen(names[j]);
            snprintf(names[j] + length, MODE_NAME - length, " %zu", ++same);
        }
    }
}

bool tr_naming_finish(const Naming *n, tr_locus *locus, tr_error *err)
{
    const Classics classics = find_classics(n);
    const size_t count = locus->count;
    char(*names)[MODE_NAME] = calloc(count + 1, sizeof *names);
    locus->mode = calloc(count + 1, sizeof *locus->mode);
    if (!names || !locus->mode) return free(names), tr_fail_memory(err), false;
    for (uint32_t k = 0; k < count; k++) {
        locus->mode[k] = n->partner[k] < k ? locus->mode[n->partner[k]] : locus->mode_count++;
        if (n->partner[k] >= k) name_mode(n, &classics, k, names[locus->mode[k]]);
    }
    tell_apart(names, locus->mode_count);
    // the list of names, and behind it the names
    locus->names = malloc((count + 1) * (sizeof *locus->names + sizeof *names));
    char(*kept)[MODE_NAME] = locus->names ? (void *)(locus->names + count + 1) : NULL;
    for (size_t i = 0; kept && i < locus->mode_count; i++) {
        memcpy(kept[i], names[i], MODE_NAME);
        locus->names[i] = kept[i];
    }
    free(names);
    if (!kept) tr_fail_memory(err);
    return kept != NULL;
}
