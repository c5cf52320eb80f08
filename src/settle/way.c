// SPDX-License-Identifier: Apache-2.0
// Ways to settle: what each asks of a model, and the terms that are its own (T291, T292, T296).
#include "settle/settle.h"

#include "expr/held.h"
#include "num/dense.h"

#include <math.h>
#include <stdio.h>

static Expr number_in(const Settle *p, double value) { return number(p->system->graph, value); }

// ---- energy -------------------------------------------------------------

static void prepare_energy(Settle *p, TermGroup group, tr_error *err)
{
    if (group == GROUP_TRAVELS && p->system->order == 1)
        tr_fail(err, TR_USAGE, (Place){0},
                "potential energy needs forces: settle by energy in second order (--order 2)");
}

// ---- deflection ----------------------------------------------------------------------------

// The vertical, upwards, as a unit vector
static void find_up(const Scene *scene, double up[3])
{
    const double size = tr_norm(scene->gravity, 3);
    for (int k = 0; k < 3; k++) up[k] = size > 0 ? -scene->gravity[k] / size : k == 2;
}

// Whether a body hangs behind a spring
static bool is_sprung(const Scene *scene, uint32_t i)
{
    for (; i != SCENE_WORLD; i = scene->bodies[i].parent)
        if (scene->bodies[i].stretch.id) return true;
    return false;
}

// Whether contacts are behind springs, as wheels on legs, or what hangs behind springs is carried;
// some of each is refused
static bool has_legs(const Settle *p, tr_error *err)
{
    const Scene *scene = &p->system->scene;
    uint32_t legs = 0;
    for (uint32_t i = 0; i < p->contact_count; i++)
        legs += is_sprung(scene, scene->contacts[p->contacts[i].scene].body);
    if (legs && legs < p->contact_count)
        tr_fail(err, TR_INVALID, (Place){0},
                "deflection is about springs between a vehicle and all of its contacts, and %u of "
                "%u contacts are behind none: settle by energy",
                p->contact_count - legs, p->contact_count);
    return legs;
}

// k s e.up of each spring along its joint's axis e, less the weight on the springs: of what is not
// behind them, or where contacts are on that side, of what is. What Kelly's slide asks for  (T291)
static void add_carried(Settle *p, tr_error *err)
{
    const Scene *scene = &p->system->scene;
    const bool on_legs = has_legs(p, err);
    double up[3], weight = 0;
    find_up(scene, up);
    Expr sum = number_in(p, 0);
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const SceneBody *b = &scene->bodies[i];
        if (is_sprung(scene, i) != on_legs) weight += b->mass * tr_norm(scene->gravity, 3);
        if (!b->stretch.id) continue;
        Expr lift = number_in(p, 0);
        for (int k = 0; k < 9; k++)
            lift = add(lift, mul(number_in(p, up[k / 3] * b->axis[k % 3]), b->rotation[k]));
        sum =
            add(sum, mul(mul(number_in(p, on_legs ? 1 : -1), lift), mul(b->stiffness, b->stretch)));
    }
    tr_settle_term(p, "the weight on springs", sub(sum, number_in(p, weight)));
}

static void prepare_deflection(Settle *p, TermGroup group, tr_error *err)
{
    const Scene *scene = &p->system->scene;
    if (group == GROUP_CARRIED) add_carried(p, err);
    if (group != GROUP_TRAVELS) return;
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->body_count; i++) {
        const SceneBody *b = &scene->bodies[i];
        if (!b->stretch.id) continue;
        count++;
        tr_settle_term(p, b->coordinate, b->stretch);
        if (strcmp(b->joint, "prismatic") != 0)
            tr_fail(err, TR_INVALID, (Place){0},
                    "deflection is about springs along straight guides, and '%.60s' is a %s joint: "
                    "settle by energy",
                    b->coordinate, b->joint);
    }
    if (!count)
        tr_fail(err, TR_INVALID, (Place){0},
                "deflection is about springs, and no joint of this model has a stiffness: settle "
                "by contact, residual or energy");
}

// ---- basic ---------------------------------------------------------------------------------

// Of each wheel: how far ahead and to the left of the vehicle's origin it is, how high above the
// ground below it, and how high that is
enum { AHEAD, LEFT, ABOVE, HEIGHT, HUB_NUMBERS };

static void compile_hubs(Settle *p, tr_error *err)
{
    const Scene *scene = &p->system->scene;
    const SceneBody *b = &scene->bodies[p->vehicle];
    Exprs list = {0};
    for (uint32_t i = 0; i < p->contact_count; i++) {
        const SceneContact *c = &scene->contacts[p->contacts[i].scene];
        Expr height;
        const Expr above = tr_settle_upright(p, i, &height, err);
        for (int axis = 0; axis < 2; axis++) {
            Expr along = number_in(p, 0);
            for (int k = 0; k < 3; k++)
                along = add(along, mul(b->rotation[3 * k + axis], sub(c->middle[k], b->origin[k])));
            exprs_add(&list, along);
        }
        exprs_add(&list, above);
        exprs_add(&list, height);
    }
    if (has_failed(err))
        tr_exprs_free(&list);
    else
        p->hubs = tr_evaluator_list(p->system, &list, FIXED_PARAMETERS, err);
}

// The terms are height, roll and pitch of the vehicle.
static void prepare_basic(Settle *p, TermGroup group, tr_error *err)
{
    const Scene *scene = &p->system->scene;
    if (group == GROUP_TRAVELS && p->contact_count != 4)
        tr_fail(err, TR_INVALID, (Place){0},
                "basic averages are of four wheels, and this model has %u contacts that may open: "
                "settle by residual or energy",
                p->contact_count);
    if (group == GROUP_TRAVELS && p->vehicle == SCENE_WORLD)
        tr_fail(err, TR_INVALID, (Place){0},
                "basic averages turn the body that carries all four wheels, and there is none");
    if (group != GROUP_ATTITUDE || has_failed(err)) return;
    const SceneBody *b = &scene->bodies[p->vehicle];
    tr_settle_term(p, "the height", b->origin[2]);
    tr_settle_term(p, "the roll", tr_held_angle(b, 2));
    tr_settle_term(p, "the pitch", tr_held_angle(b, 1));
    compile_hubs(p, err);
}

static void sort_by(double (*hubs)[HUB_NUMBERS], int axis, uint32_t order[4])
{
    for (uint32_t i = 0; i < 4; i++) order[i] = i;
    for (uint32_t i = 1; i < 4; i++)
        for (uint32_t k = i; k > 0 && hubs[order[k]][axis] > hubs[order[k - 1]][axis]; k--) {
            const uint32_t swap = order[k];
            order[k] = order[k - 1], order[k - 1] = swap;
        }
}

// Slope of the ground along an axis of the vehicle: the first two wheels of the order less the last
// two, over how far they are apart
static double slope_along(double (*hubs)[HUB_NUMBERS], int axis, const uint32_t order[4])
{
    double rise = 0, apart = 0;
    for (uint32_t k = 0; k < 4; k++) {
        rise += (k < 2 ? 0.5 : -0.5) * hubs[order[k]][HEIGHT];
        apart += (k < 2 ? 0.5 : -0.5) * hubs[order[k]][axis];
    }
    return rise / apart;
}

// Two in front and two behind, one of each on the left and one on the right
static bool are_corners(double (*hubs)[HUB_NUMBERS], const uint32_t by_length[4],
                        const uint32_t by_width[4])
{
    const double length = hubs[by_length[0]][AHEAD] - hubs[by_length[3]][AHEAD],
                 width = hubs[by_width[0]][LEFT] - hubs[by_width[3]][LEFT];
    uint32_t left = 0; // of those in front
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) left += by_length[i] == by_width[k];
    return left == 1 && hubs[by_length[1]][AHEAD] - hubs[by_length[2]][AHEAD] > 1e-6 * length &&
           hubs[by_width[1]][LEFT] - hubs[by_width[2]][LEFT] > 1e-6 * width;
}

// Level first; then as the ground below the wheels is there                              (T292)
static bool begin_basic(Settle *p, tr_error *err)
{
    double hubs[4][HUB_NUMBERS];
    p->attitude[0] = p->attitude[1] = p->attitude[2] = 0;
    if (!tr_settle_go(p)) {
        tr_settle_refuse(p, err);
        return false;
    }
    evaluate_into(&p->hubs, p->in, hubs[0]);
    for (int i = 0; i < 4; i++) p->attitude[0] -= hubs[i][ABOVE] / 4;
    uint32_t by_length[4], by_width[4];
    sort_by(hubs, AHEAD, by_length);
    sort_by(hubs, LEFT, by_width);
    if (!are_corners(hubs, by_length, by_width)) {
        tr_fail(err, TR_INVALID, (Place){0},
                "basic averages are of two wheels in front and two behind, one of each on either "
                "side, and these stand otherwise: settle by residual or energy");
        return false;
    }
    p->attitude[1] = slope_along(hubs, LEFT, by_width);
    p->attitude[2] = -slope_along(hubs, AHEAD, by_length);
    return true;
}

// ---- level ---------------------------------------------------------------------------------

// Of all poses that touch, that in which the vehicle stands most upright                 (T296)
static void prepare_level(Settle *p, TermGroup group, tr_error *err)
{
    if (group != GROUP_ATTITUDE) return;
    if (p->vehicle == SCENE_WORLD) {
        tr_fail(err, TR_INVALID, (Place){0},
                "level is about the body that carries all wheels, and there is none");
        return;
    }
    const SceneBody *b = &p->system->scene.bodies[p->vehicle];
    tr_settle_term(p, "the roll", tr_held_angle(b, 2));
    tr_settle_term(p, "the pitch", tr_held_angle(b, 1));
}

// ---- by name -------------------------------------------------------------------------------

static const Way ways[] = {
#define WAY(name, zero, least, opens, prepare, begin) {#name, zero, least, opens, prepare, begin},
#include "settle/settle.def"
};

const Way *tr_way_called(const char *name, tr_error *err)
{
    char names[200] = "";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, name) == 0) return &ways[i];
        tr_list_name(names, sizeof names, ways[i].name);
    }
    tr_fail(err, TR_USAGE, (Place){0}, "there is no way to settle called '%.40s': %s", name, names);
    return NULL;
}
