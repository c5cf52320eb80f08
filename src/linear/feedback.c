// SPDX-License-Identifier: Apache-2.0
// A joint's displacement is that of its coordinate. A base with rotation R moves by R^T dp along
// its own axes, and turns by
//
//   dtheta = dg x g + s g,   g = R^T e_z,   s = e_z . sum_j (r0_j x r_j) / 2
//
// about them: tilt from the third row of R, which a change of heading leaves alone, and heading s
// from the others. So a law that does not ask for heading holds wherever a vehicle goes (T107).
#include "linear/feedback.h"

#include "num/dense.h"
#include "plan/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 400, NAME = 300 };
#define NOTHING 1e-11 // of a gain, beside the largest

typedef struct Term {
    double gain;
    char text[NAME];
    double at, drift; // where it is at the start, and its rate
} Term;

typedef struct Law {
    System *system;
    const double *in;
    Term terms[MOST_TERMS];
    uint32_t count;
    tr_error *err;
} Law;

// A coordinate or a velocity of a body, 0 where it has no such part
static double part_value(const Law *law, tr_kind kind, const char *body, const char *part)
{
    const uint32_t i = tr_system_part(law->system, kind, body, part);
    return i == NO_INPUT ? 0 : law->in[i];
}

static double place_of(const Law *law, const char *body, const char *part)
{
    return part_value(law, TR_POSITION, body, part);
}

static double motion_of(const Law *law, const char *body, const char *part)
{
    return part_value(law, TR_VELOCITY, body, part);
}

// The same text again adds to its gain.
static void add_term(Law *law, double gain, const char *text, double at, double drift)
{
    if (gain == 0) return;
    for (uint32_t i = 0; i < law->count; i++)
        if (strcmp(law->terms[i].text, text) == 0) {
            law->terms[i].gain += gain;
            return;
        }
    if (law->count == MOST_TERMS) {
        tr_fail(law->err, TR_FAILED, (Place){0}, "the law has more than %d terms", MOST_TERMS);
        return;
    }
    Term *term = &law->terms[law->count++];
    *term = (Term){.gain = gain, .at = at, .drift = drift};
    snprintf(term->text, sizeof term->text, "%s", text);
}

static void add_part(Law *law, double gain, const char *body, const char *part, double at,
                     double drift)
{
    char text[NAME + 8];
    snprintf(text, sizeof text, "%s.%s", body, part);
    add_term(law, gain, text, at, drift);
}

// ---- bases ---------------------------------------------------------------------------------

// What is asked of a base, by its own axes
typedef struct Base {
    const char *name; // of the body; NULL: none
    double d[3], r[3];
} Base;

static bool rotation_of(const Law *law, const char *body, double R[3][3])
{
    const Scene *scene = &law->system->scene;
    for (uint32_t i = 0; i < scene->body_count; i++)
        if (strcmp(scene->bodies[i].name, body) == 0)
            return tr_evaluate_once(law->system, scene->bodies[i].rotation, 9, OPEN_PARAMETERS,
                                    law->in, &R[0][0], law->err);
    tr_fail(law->err, TR_FAILED, (Place){0}, "the model has no body '%s'", body);
    return false;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Whether it turns while it goes on: then its place and heading are no constants but for a moment.
static bool turns(const Law *law, const char *body)
{
    const double w[3] = {motion_of(law, body, "wx"), motion_of(law, body, "wy"),
                         motion_of(law, body, "wz")};
    return dot(w, w) > 1e-18;
}

// gain . R^T (p - p0)
static void add_place(Law *law, const Base *base, double R[3][3])
{
    const double v[3] = {motion_of(law, base->name, "vx"), motion_of(law, base->name, "vy"),
                         motion_of(law, base->name, "vz")};
    static const char *const axis[] = {"x", "y", "z"};
    if (dot(base->d, base->d) == 0) return;
    if (turns(law, base->name)) {
        tr_fail(law->err, TR_FAILED, (Place){0},
                "the place of '%s' cannot be held by a formula while it turns: give it no weight",
                base->name);
        return;
    }
    for (int i = 0; i < 3; i++)
        add_part(law, dot(R[i], base->d), base->name, axis[i], place_of(law, base->name, axis[i]),
                 dot(R[i], v));
}

// Tilt, and heading
static void add_turn(Law *law, const Base *base, double R[3][3])
{
    const double *k = base->r, *g = R[2], size = sqrt(dot(k, k));
    const double tilt[3] = {g[1] * k[2] - g[2] * k[1], g[2] * k[0] - g[0] * k[2],
                            g[0] * k[1] - g[1] * k[0]}; // g x k
    const double heading = dot(k, g);
    char part[8];
    for (int j = 0; j < 3; j++) {
        snprintf(part, sizeof part, "R3%d", j + 1);
        if (fabs(tilt[j]) > NOTHING * size) add_part(law, tilt[j], base->name, part, g[j], 0);
    }
    if (fabs(heading) <= 1e-9 * size) return;
    if (turns(law, base->name)) {
        tr_fail(law->err, TR_FAILED, (Place){0},
                "the heading of '%s' cannot be held by a formula while it turns: give it no weight",
                base->name);
        return;
    }
    for (int j = 0; j < 3; j++) {
        snprintf(part, sizeof part, "R2%d", j + 1);
        add_part(law, heading * R[0][j] / 2, base->name, part, R[1][j], 0);
        snprintf(part, sizeof part, "R1%d", j + 1);
        add_part(law, -heading * R[1][j] / 2, base->name, part, R[0][j], 0);
    }
}

// Of a ball joint, against its parent: 2 Im(q0^* q)
static void add_ball(Law *law, const Base *base)
{
    const double *k = base->r, w = place_of(law, base->name, "qw"),
                 x = place_of(law, base->name, "qx"), y = place_of(law, base->name, "qy"),
                 z = place_of(law, base->name, "qz");
    if (turns(law, base->name))
        tr_fail(law->err, TR_FAILED, (Place){0},
                "the attitude of '%s' cannot be held by a formula while it turns", base->name);
    add_part(law, -2 * (k[0] * x + k[1] * y + k[2] * z), base->name, "qw", w, 0);
    add_part(law, 2 * (k[0] * w + k[1] * -z + k[2] * y), base->name, "qx", x, 0);
    add_part(law, 2 * (k[0] * z + k[1] * w + k[2] * -x), base->name, "qy", y, 0);
    add_part(law, 2 * (k[0] * -y + k[1] * x + k[2] * w), base->name, "qz", z, 0);
}

static void add_base(Law *law, const Base *base)
{
    double R[3][3];
    if (!rotation_of(law, base->name, R)) return;
    const System *s = law->system;
    const bool planar = tr_system_part(s, TR_POSITION, base->name, "theta") != NO_INPUT,
               has_place = tr_system_part(s, TR_POSITION, base->name, "x") != NO_INPUT;
    if (has_place) add_place(law, base, R);
    if (planar)
        add_part(law, base->r[2], base->name, "theta", place_of(law, base->name, "theta"),
                 motion_of(law, base->name, "wz"));
    else if (has_place)
        add_turn(law, base, R);
    else
        add_ball(law, base);
}

// Where the gain of a displacement along or about an axis of a body belongs
static double *base_gain(Base *base, const Port *port)
{
    const int axis = port->component[1] - 'x';
    return port->quantity == QUANTITY_SPEED ? &base->d[axis] : &base->r[axis];
}

static void add_coordinate(Law *law, double gain, uint32_t velocity)
{
    const uint32_t of = law->system->inputs[velocity].port.rate_of;
    if (of != NO_INPUT)
        add_term(law, gain, law->system->inputs[of].name, law->in[of], law->in[velocity]);
}

static void add_displacements(Law *law, const Linear *linear, const double *gain)
{
    Base base = {0};
    for (uint32_t i = 0; i < linear->displacements; i++) {
        const Port *port = &law->system->inputs[linear->state_of[i]].port;
        const bool is_part = port->rate_of == NO_INPUT && port->component[0];
        if (base.name && (!is_part || strcmp(base.name, port->owner) != 0)) {
            add_base(law, &base); // its displacements are side by side
            base = (Base){0};
        }
        if (is_part) {
            base.name = port->owner;
            *base_gain(&base, port) = gain[i];
        } else
            add_coordinate(law, gain[i], linear->state_of[i]);
    }
    if (base.name) add_base(law, &base);
}

// ---- velocities ----------------------------------------------------------------------------

static void add_velocity(Law *law, double gain, uint32_t input)
{
    const char *joint = tr_system_joint_name(law->system, input);
    char text[NAME];
    snprintf(text, sizeof text,
             law->system->inputs[input].port.rate_of == NO_INPUT ? "%s" : "d(%s)", joint);
    add_term(law, gain, text, law->in[input], 0);
}

// u = C^T v: a velocity along inner axes by those along the base's own
static void add_inner(Law *law, double gain, uint32_t input)
{
    System *s = law->system;
    for (uint32_t i = 0; i < s->turned_count; i++) {
        const Turned *turned = &s->turned[i];
        if (input < turned->inner || input >= turned->inner + 3) continue;
        double C[9];
        if (!tr_evaluate_once(s, turned->C, 9, OPEN_PARAMETERS, law->in, C, law->err)) return;
        for (uint32_t k = 0; k < 3; k++)
            add_velocity(law, gain * C[3 * k + input - turned->inner], turned->outer + k);
    }
}

static void add_state(Law *law, double gain, uint32_t input)
{
    const System *s = law->system;
    if (s->inputs[input].kind == TR_INNER)
        add_inner(law, gain, input);
    else if (s->inputs[input].kind == TR_SPEED)
        add_term(law, gain, tr_system_speed_name(s, input), law->in[input], 0);
    else
        add_velocity(law, gain, input);
}

// ---- writing -------------------------------------------------------------------------------

static double cleaned(double x, double size) { return fabs(x) <= 1e-12 * size ? 0 : x; }

static void add_signed(Buffer *out, double x, bool first)
{
    if (!first) tr_buffer_print(out, x < 0 ? " - " : " + ");
    if (first && x < 0) tr_buffer_print(out, "-");
    tr_buffer_number(out, fabs(x));
}

static bool is_name(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (!depth && strchr(" +-*/^<>?", *at)) return false;
    }
    return true;
}

static void write_term(const Term *term, double gain, bool first, Buffer *out)
{
    const double at = cleaned(term->at, 1), drift = cleaned(term->drift, 1);
    const bool plain = at == 0 && drift == 0 && is_name(term->text);
    add_signed(out, gain, first);
    tr_buffer_print(out, plain ? "*%s" : is_name(term->text) ? "*(%s" : "*((%s)", term->text);
    if (at != 0) add_signed(out, -at, false);
    if (drift != 0) add_signed(out, -drift, false), tr_buffer_print(out, "*t");
    if (!plain) tr_buffer_print(out, ")");
}

static void write_law(const Law *law, double constant, Buffer *out)
{
    double most = 0;
    bool first = true;
    for (uint32_t i = 0; i < law->count; i++) most = larger(most, fabs(law->terms[i].gain));
    if (cleaned(constant, 1) != 0) add_signed(out, constant, true), first = false;
    for (uint32_t i = 0; i < law->count; i++) {
        if (fabs(law->terms[i].gain) <= NOTHING * most) continue;
        write_term(&law->terms[i], -law->terms[i].gain, first, out);
        first = false;
    }
    if (first) tr_buffer_print(out, "0");
}

bool tr_feedback_write(System *system, const Linear *linear, const double *inputs,
                       const double *gain, double constant, Buffer *out, tr_error *err)
{
    if (has_failed(err)) return false;
    Law *law = calloc(1, sizeof *law); // large
    if (!law) return tr_fail_memory(err), false;
    law->system = system, law->in = inputs, law->err = err;
    add_displacements(law, linear, gain);
    for (uint32_t i = linear->displacements; i < linear->states; i++)
        add_state(law, gain[i], linear->state_of[i]);
    if (!has_failed(err)) write_law(law, constant, out);
    if (out->failed) tr_fail_memory(err);
    free(law);
    return !has_failed(err);
}
