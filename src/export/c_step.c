// SPDX-License-Identifier: Apache-2.0
// Steps of generated C, which stop where a run does (T325): where formulas of t jump, and at
// samples of sensors and controllers (T324).
#include "export/c_printer.h"
#include "export/embedded.h"

#include <stdio.h>

static uint32_t larger_count(uint32_t a, uint32_t b) { return a > b ? a : b; }
static bool has_samples(const Export *code) { return code->samples.clock.count; }
static bool has_jumps(const Export *code) { return code_has(code, PART_JUMPS); }

// ---- samples -------------------------------------------------------------------------------

// How many there are, and which
static void write_samples(Printer *p)
{
    const CodeSamples *s = &p->code->samples;
    char sensors[12], sensed[12], set_count[12], held[12];
    snprintf(sensors, sizeof sensors, "%u", s->sensors);
    snprintf(sensed, sizeof sensed, "%u", s->sensed);
    snprintf(set_count, sizeof set_count, "%u", s->set_count);
    snprintf(held, sizeof held, "%u", s->held);
    const char *noise =
        s->has_noise
            ? "is_due ? normal(random_bits((double)clock[2 * k + 1], @name@_k_name[k].name, "
              "(uint64_t)x[COUNTS + k])) : 0"
            : "0";
    Buffer made = {0};
    tr_c_fill_in(p, &made, text_of(noise), NULL);
    const bool unreduced = p->code->options.is_unreduced;
    const Mark marks[] = {{"sensors", sensors},
                          {"sensed", sensed},
                          {"set_count", set_count},
                          {"held", held},
                          {"noise", made.at},
                          {"stand", unreduced
                                        ? "    place at;\n    find_all(&at, t, x, u, p, mode, w);\n"
                                        : "    (void)mode;\n"},
                          {"given", unreduced ? "t, at.x, u, p, due, noise, at.s, next, at.w"
                                              : "t, x, u, p, due, noise, next, w"},
                          {"state", unreduced ? "at.x" : "x"},
                          {NULL, NULL}};
    if (made.at) tr_c_fill_in(p, &p->body, tr_embedded_c_samples(), marks);
    p->body.failed = p->body.failed || made.failed;
    tr_buffer_free(&made);
}

void tr_c_samples(Printer *p)
{
    const CodeSamples *s = &p->code->samples;
    if (!has_samples(p->code)) return;
    tr_c_function(p, PART_CLOCKS, "evaluate_clocks", "f", false, NULL);
    tr_c_function(p, PART_SENSE, "evaluate_sensors", "f", false, NULL);
    tr_c_function(p, PART_CONTROL, "evaluate_controllers", "f", false, NULL);
    if (s->has_noise) tr_c_fill_in(p, &p->body, tr_embedded_c_noise(), NULL);
    const uint32_t reads = s->s.count - s->sensors;
    tr_c_integers(&p->body, "static const int what_is_said[]", s->said, s->sensors);
    tr_c_integers(&p->body, "static const int what_is_read[]", s->read, reads);
    tr_c_integers(&p->body, "static const int what_is_set[]", s->set, s->set_count);
    write_samples(p);
}

// ---- steps ---------------------------------------------------------------------------------

#define STATE "x, u, p, mode, w"

// One that nothing interrupts
static void write_one_step(Printer *p)
{
    const Export *code = p->code;
    const bool first = code_has(code, PART_FIRST), jumps = has_jumps(code);
    const bool phi = code->phi_count, units = code->quaternion_count;
    const char *name = code->options.name, *at = jumps ? "between(t, from, to)" : "t";
    char first_call[200], project[200], head[300], check[100];
    if (first) tr_c_function(p, PART_FIRST, "first_stage", "dx", false, &code->x);
    if (first)
        snprintf(first_call, sizeof first_call,
                 "for (int i = 0; i < N; i++) k1[i] = 0;\n    first_stage(%s, x, u, p, k1, w)", at);
    else
        snprintf(first_call, sizeof first_call, "%s_rates(%s, x, u, p, mode, k1, w)", name, at);
    snprintf(project, sizeof project, "%s%s", units ? "    make_units(x);\n" : "",
             phi ? "    back_onto_constraints(t, x, u, p, w);\n" : "");
    const char *end = jumps ? "between(t + h, from, to)" : "t + h";
    snprintf(check, sizeof check, "is_chart_bad(%s, x, u, p, w) ? 2 : 0", end);
    snprintf(
        head, sizeof head,
        "static int runge_kutta(%s t, %s h%s, %s *x, const %s *u, const %s *p, const int *mode, "
        "%s *w)",
        p->real, p->real, jumps ? ", double from, double to" : "", p->real, p->real, p->real,
        p->real);
    const Mark marks[] = {
        {"first", first_call}, {"project", project},
        {"head", head},        {"there", jumps ? "between(t + on, from, to)" : "t + on"},
        {"end", end},          {"check", code->pivot_count ? check : "0"},
        {NULL, NULL}};
    tr_c_fill_in(p, &p->body, tr_embedded_c_project_all(), marks);
    tr_c_fill_in(p, &p->body, tr_embedded_c_step(), marks);
}

static void write_stops(Printer *p)
{
    const bool samples = has_samples(p->code), jumps = has_jumps(p->code);
    const Mark marks[] = {
        {"sides", jumps ? ", from, to" : ""},
        {"sides_given", jumps ? ", double from, double to" : ""},
        {"own_u", samples ? "" : "const "},
        {"next_jump", jumps ? "    next = first_jump(t, until, x, u, p, w);\n" : ""},
        {"next_sample", samples ? "    const @real@ due = sample_behind(t, x, p, w);\n"
                                  "    if (due <= until && due < next) next = due;\n"
                                : ""},
        {"first_sample", samples ? "    if (@name@_sample(t, " STATE ")) return 1;\n" : ""},
        {"stop", samples ? "        const @real@ due = sample_behind(t, x, p, w);\n"
                           "        if (due < stop && !is_same_time(due, stop)) stop = due;\n"
                         : ""},
        {"few", jumps
                    ? "    int left = 16; /* formulas may be zero but for rounding for a while */\n"
                    : ""},
        {"go",
         jumps ? "        const double here = beyond(t, x, u, p, w);\n"
                 "        const double event = left-- > 0 ? first_jump(here, stop, x, u, p, w) : "
                 "HUGE_VAL;\n"
                 "        const double from = here > t ? here : -HUGE_VAL;\n"
                 "        const double to = event <= stop ? event * (1 - 1.1102230246251565e-16) : "
                 "HUGE_VAL;\n"
                 "        if (event <= stop) stop = event;\n"
                 "        if (!(event <= stop && event - t < 1e-100))\n"
                 "            said = go_to(t, stop, h, from, to, " STATE ");\n"
               : "        said = go_to(t, stop, h, " STATE ");\n"},
        {"struck",
         p->code->strikes
             ? "        if (event <= stop && is_struck(to, beyond(event, x, u, p, w), x, u, p, w)) "
               "return 3;\n"
             : ""},
        {"sample", samples ? "        if (@name@_sample(t, " STATE ")) return 1;\n" : ""},
        {NULL, NULL}};
    Buffer text = {0};
    tr_fill_in(&text, tr_embedded_c_times(), marks);
    tr_fill_in(&text, samples || jumps ? tr_embedded_c_stops() : tr_embedded_c_whole_step(), marks);
    if (text.at && !text.failed) tr_c_fill_in(p, &p->body, text_of(text.at), NULL);
    p->body.failed = p->body.failed || text.failed;
    tr_buffer_free(&text);
}

// In the unreduced form it stays on this side of what jumps, for it takes all at the times there
// are.
static void write_unreduced_step(Printer *p)
{
    const bool jumps = has_jumps(p->code);
    tr_buffer_print(
        &p->body,
        "static int runge_kutta(%s t, %s h%s, %s *x, const %s *u, const %s *p, int *mode, %s *w)\n"
        "{\n%s}\n\n",
        p->real, p->real, jumps ? ", double from, double to" : "", p->real, p->real, p->real,
        p->real,
        jumps ? "    const double begins = between(t, from, to);\n"
                "    return step_on(begins, between(t + h, from, to) - begins, x, u, p, "
                "mode, w);\n"
              : "    return step_on(t, h, x, u, p, mode, w);\n");
}

void tr_c_step(Printer *p)
{
    const Export *code = p->code;
    if (has_jumps(code)) {
        tr_buffer_print(&p->body, "enum { JUMPS = %u };\n", code->part[PART_JUMPS].count);
        tr_c_function(p, PART_JUMPS, "evaluate_jumps", "f", false, NULL);
        tr_c_fill_in(p, &p->body, tr_embedded_c_jumps(), NULL);
    }
    if (code->strikes) tr_c_fill_in(p, &p->body, tr_embedded_c_blow(), NULL);
    if (code->options.is_unreduced)
        write_unreduced_step(p);
    else
        write_one_step(p);
    write_stops(p);
}

// ---- the header ----------------------------------------------------------------------------

void tr_c_samples_header(const Printer *p, Buffer *out)
{
    const CodeSamples *s = &p->code->samples;
    const Mark marks[] = {{"noise_words", !s->has_noise ? "no sensor of this model has any"
                                          : p->code->options.is_single
                                              ? "as trundle has it, to single precision"
                                              : "the one that trundle has, to the bit"},
                          {NULL, NULL}};
    if (has_samples(p->code)) tr_c_fill_in(p, out, tr_embedded_c_samples_header(), marks);
}

uint32_t tr_c_step_room(const Printer *p)
{
    const CodeSamples *s = &p->code->samples;
    const uint32_t clocks = s->clock.count, controlled = s->c.count + s->set_count;
    const uint32_t most =
        larger_count(p->rooms[PART_SENSE] + s->sensed, p->rooms[PART_CONTROL] + controlled);
    const uint32_t samples = s->s.count + 5 * clocks +
                             larger_count(most, 2 * clocks + p->rooms[PART_CLOCKS]) + s->sensed;
    const uint32_t jumps = 2 * p->code->part[PART_JUMPS].count + p->rooms[PART_JUMPS];
    const uint32_t blow = p->code->strikes ? 2 * p->code->x.count + p->rooms[PART_FOLLOW] : 0;
    return larger_count(samples, larger_count(jumps, blow));
}
