// SPDX-License-Identifier: Apache-2.0
// How the equations were derived, told in the order in which it was done: coordinates, what was
// described otherwise, constraints and what became of each, what is free, reactions, what nothing
// depends on, and which form was kept. Numbers behind T are those of docs/theory.md.
#include "base/options.h"
#include "expr/forest.h"
#include "expr/merge.h"
#include "expr/shorten.h"
#include "expr/walk.h"
#include "plan/doctor.h"
#include "plan/plan.h"
#include "plan/start.h"
#include "print/closed.h"
#include "print/language.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 40, MOST_LETTERS = 140 }; // of a row that is written as a formula
enum { MOST_NAMES = 40 };                          // in a list

typedef struct Page {
    const Language *language;
    const System *derived;
    System *reduced;          // where it starts, with definitions; a copy without constraints
    const Findings *findings; // NULL without constraints
    size_t most;              // operations of a formula
    bool is_asked;            // for so many: then of any length
    Buffer text;
    tr_error *err;
} Page;

// ---- writing -------------------------------------------------------------------------------

static void put_prose(Page *page, const char *row, const char *words)
{
    Buffer prose = {0};
    page->language->notation->prose(words, &prose);
    tr_listing_fill(&page->text, row, prose.at ? prose.at : "", "");
    page->text.failed = page->text.failed || prose.failed;
    free(prose.at);
}

__attribute__((format(printf, 2, 3))) static void say(Page *page, const char *format, ...)
{
    char words[4000];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    put_prose(page, page->language->words, words);
}

static void begin(Page *page, const char *heading)
{
    put_prose(page, page->language->heading, heading);
}

// Names with commas between, as many as a line has room for
typedef struct List {
    char text[3000];
    uint32_t count;
} List;

static void add_name(List *list, const char *name)
{
    const size_t length = strlen(list->text);
    if (list->count < MOST_NAMES)
        snprintf(list->text + length, sizeof list->text - length, "%s%s", list->count ? ", " : "",
                 name);
    else if (list->count == MOST_NAMES)
        snprintf(list->text + length, sizeof list->text - length, ", and more");
    list->count++;
}

// ---- coordinates and velocities ------------------------------------------------------------

// Whether an input is of a body's joint: its coordinate, or the rate of that; or "frame.vx"
static bool is_of_joint(const System *s, uint32_t i, const SceneBody *body)
{
    const Input *input = &s->inputs[i];
    const uint32_t of = input->kind == TR_VELOCITY ? input->port.rate_of : i;
    if (of < s->input_count && strcmp(s->inputs[of].name, body->coordinate) == 0) return true;
    return strcmp(input->port.owner, body->name) == 0 && input->port.component[0] &&
           strcmp(input->port.component, "motor") != 0 && input->port.quantity != QUANTITY_MODAL;
}

static List inputs_of(const System *s, const SceneBody *body, tr_kind kind)
{
    List list = {0};
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == kind && is_of_joint(s, i, body))
            add_name(&list, s->inputs[i].name);
    return list;
}

// How its first velocity is driven
static const char *drive_of(const System *s, const SceneBody *body)
{
    for (uint32_t i = 0; i < s->input_count; i++) {
        const Input *input = &s->inputs[i];
        if (input->kind != TR_VELOCITY || !is_of_joint(s, i, body)) continue;
        return is_motion_driven(input)
                   ? "; it is told how to move, so its force is found (T3, T256, T76)"
               : input->drive == DRIVE_TORQUE ? "; driven by a torque or a force"
                                              : "";
    }
    return "";
}

static const char *joint_words(const char *joint)
{
    static const char *const words[][2] = {
        {"free", "goes and turns anywhere: its place, a unit quaternion, and its velocity and "
                 "angular velocity in its own axes (T2, T6 [M 9])"},
        {"planar", "moves in a plane: its place and heading, and its velocity in its own axes (T2, "
                   "T6)"},
        {"ball", "turns anywhere: a unit quaternion, and its angular velocity in its own axes (T2, "
                 "T6)"},
        {"revolute", "turns about an axis (T5, T6 [M 1, 2])"},
        {"prismatic", "slides along an axis (T5, T6 [M 1, 2])"},
        {"screw", "turns about an axis and goes along it (T5, T6)"},
        {"universal", "turns about two axes: two joints, one behind the other with nothing between "
                      "(T360)"},
        {"cylindrical", "slides along an axis and turns about it: two joints, one behind the other "
                        "with nothing between (T360)"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(joint, words[i][0]) == 0) return words[i][1];
    return "moves";
}

static const char *parent_of(const System *s, const SceneBody *body)
{
    uint32_t parent = body->parent;
    while (parent < s->scene.body_count && s->scene.bodies[parent].is_part &&
           strstr(s->scene.bodies[parent].name, ".between"))
        parent = s->scene.bodies[parent].parent;
    return parent < s->scene.body_count ? s->scene.bodies[parent].name : "the world";
}

static void explain_joint(Page *page, const SceneBody *body)
{
    const System *s = page->derived;
    const List q = inputs_of(s, body, TR_POSITION), v = inputs_of(s, body, TR_VELOCITY);
    if (!v.count) {
        if (!body->is_part) say(page, "  %s is fixed to %s", body->name, parent_of(s, body));
    } else if (strstr(body->name, ".motor"))
        say(page, "  %s is a motor behind a spring, with a coordinate of its own (T8): %s%s",
            body->name, q.text, drive_of(s, body));
    else if (!body->is_part)
        say(page, "  %s, on %s, %s: %s%s%s%s", body->name, parent_of(s, body),
            joint_words(body->joint), q.text, q.count == v.count && q.count == 1 ? "" : "; ",
            q.count == v.count && q.count == 1 ? "" : v.text, drive_of(s, body));
}

static void explain_modes(Page *page)
{
    const System *s = page->derived;
    List list = {0};
    for (uint32_t i = 0; i < s->input_count; i++)
        if (s->inputs[i].kind == TR_POSITION && s->inputs[i].port.quantity == QUANTITY_MODAL)
            add_name(&list, s->inputs[i].name);
    if (list.count)
        say(page,
            "  What bends does so in a frame that floats with its root, by modes (T27 [B App. "
            "B]): %s",
            list.text);
}

static void explain_coordinates(Page *page)
{
    const System *s = page->derived;
    begin(page, "Coordinates and velocities");
    for (uint32_t i = 0; i < s->scene.body_count; i++) explain_joint(page, &s->scene.bodies[i]);
    explain_modes(page);
    if (s->cut_count) {
        List cuts = {0};
        for (uint32_t i = 0; i < s->cut_count; i++) add_name(&cuts, s->cuts[i]);
        say(page,
            "  A tree needs one joint for each body, so these are cut, and closed again by "
            "rows (T7, T49, T50): %s",
            cuts.text);
    }
    say(page,
        "  M(q) v' + c(q, v) = Q%s: M by composite inertias, c by Newton and Euler (T14-T20 "
        "[M 9, B 1])",
        s->row_count ? " + G^T lambda, G v + g = 0" : "");
}

// ---- what is described otherwise -------------------------------------------------------------

static const char *link_name(const System *s, uint32_t link)
{
    return link < s->scene.body_count ? s->scene.bodies[link].name : "the world";
}

static void explain_gyrostats(Page *page)
{
    const System *s = page->derived;
    for (uint32_t i = 0; s->forest && i < s->forest->link_count; i++) {
        const ForestLink *link = &s->forest->links[i];
        if (!link->is_carried || i >= s->scene.body_count || s->scene.bodies[i].is_part) continue;
        const bool stands = link->parent == NO_LINK;
        say(page,
            "  %s is a gyrostat: it is symmetric about its own hinge and nothing hangs from "
            "it, so %s%s, and it is described in axes that do not spin with it: %s moves "
            "no mass (T17 [B 74-76])",
            link_name(s, i),
            stands ? "only its moment about the hinge counts"
                   : "all of it but its moment about the hinge is added to ",
            stands ? "" : link_name(s, link->parent), s->scene.bodies[i].coordinate);
    }
}

static void explain_turned(Page *page)
{
    const System *s = page->derived;
    List outer = {0}, inner = {0};
    for (uint32_t k = 0; k < 3 * s->turned_count; k++) {
        const Turned *turned = &s->turned[k / 3];
        add_name(&outer, s->inputs[turned->outer + k % 3].name);
        add_name(&inner, s->inputs[turned->inner + k % 3].name);
    }
    if (outer.count)
        say(page,
            "  A hinge is oblique to the axes of the base, and turning through it costs more "
            "than turning about an axis: so %s are replaced within by %s, the same along axes "
            "parallel to that hinge, v = C u with C constant (T59, T60)",
            outer.text, inner.text);
}

static void explain_rolling(Page *page)
{
    const System *s = page->derived;
    for (uint32_t k = 0; s->forest && k < s->forest->rolling_count; k++) {
        const Rolling *rolling = &s->forest->rolling[k];
        const uint32_t row = rolling->rows[0];
        if (row < s->row_count)
            say(page,
                "  %s rolls: its place of contact is described in the axes of %s%s, and its "
                "rows as components there (T44-T46, T180)",
                s->rows[row].port.owner, link_name(s, rolling->link),
                rolling->spin == NO_LINK ? ""
                                         : ", which carries it, so that it is not turned with "
                                           "the wheel");
    }
}

static void explain_frames(Page *page)
{
    const size_t before = page->text.length;
    begin(page, "What is described otherwise than it was written");
    const size_t heading = page->text.length;
    explain_gyrostats(page);
    explain_turned(page);
    explain_rolling(page);
    if (!page->derived->forest)
        say(page,
            "  Something bends, or fluid moves along with it: recursions along a tree of rigid "
            "bodies are not used (T18, T27)");
    if (page->text.length == heading && page->text.at)
        page->text.at[page->text.length = before] = 0;
}

// ---- constraints -----------------------------------------------------------------------------

// What rows say, by the last part of their names
static const struct {
    const char *part, *words;
} row_words[] = {{"normal", "stays where it touches (T44, T45, T48)"},
                 {"longitudinal", "does not slip forward (T45, T48 [M 10])"},
                 {"lateral", "does not slip sideways (T45, T47, T48 [M 10, K 4.70])"},
                 {"roller", "does not slip along the axis of the roller (T300)"},
                 {"x", "holds the point along x (T49)"},
                 {"y", "holds the point along y (T49)"},
                 {"z", "holds the point along z (T49)"},
                 {"mx", "holds the turn about x (T50)"},
                 {"my", "holds the turn about y (T50)"},
                 {"mz", "holds the turn about z (T50)"},
                 {"moment", "keeps the angle of two axes (T361)"},
                 {"lower", "is a stop: nothing passes it"},
                 {"upper", "is a stop: nothing passes it"},
                 {"stick", "is dry friction that holds"},
                 {"distance", "keeps its length (T51)"},
                 {"coupling", "is a sum of others (T53)"},
                 {"position", "is a formula of the model that stays zero (T53)"},
                 {"rate", "is a formula of the model that stays zero (T53)"}};

static const char *words_of_row(const Row *row)
{
    for (size_t i = 0; i < sizeof row_words / sizeof *row_words; i++)
        if (strcmp(row->port.component, row_words[i].part) == 0) return row_words[i].words;
    return "is a velocity that stays zero (T41)";
}

// 0 = the velocity, where that is short and can be written: formulas need FLINT, words do not
static void write_formula(Page *page, System *s, Expr x)
{
    tr_error none = {0};
    if (tr_system_operations(s, &x, 1) > page->most) return;
    Closed *closed = tr_closed_new(s->graph, x, NULL, &none);
    const Term *form = closed ? tr_closed_form(closed, x) : NULL;
    Buffer right = {0}, plain = {0};
    if (form) tr_term_write(form, &tr_notation_text, s, &plain);
    const bool is_short = form && (page->is_asked || plain.length <= MOST_LETTERS);
    if (is_short) tr_term_write(form, page->language->notation, s, &right);
    free(plain.at);
    if (right.at)
        tr_listing_fill(&page->text, page->language->equation,
                        page->language->notation == &tr_notation_mathml ? "<mn>0</mn>" : "0",
                        right.at);
    free(right.at);
    tr_closed_free(closed);
}

static void name_result(Page *page, uint32_t i, char *words, size_t size)
{
    const Chart *chart = page->findings->chart;
    const Partition *p = &chart->partition;
    const Row *row = &page->derived->rows[i];
    char group[1000];
    for (uint32_t k = 0; k < p->count; k++)
        if (p->row[k] == i) {
            snprintf(words, size, "eliminated: it gives %s",
                     page->derived->inputs[p->dependent[k]].name);
            return;
        }
    snprintf(words, size,
             row->is_open ? "open at the start: it holds nothing"
                          : "slips at the start: it holds nothing");
    for (uint32_t k = 0; k < chart->surplus_count; k++) {
        if (chart->surplus[k] != i || row->is_open) continue;
        tr_chart_name_group(chart, k, group, sizeof group);
        snprintf(words, size, "%s: these depend on each other: %s%s",
                 chart->antagonist[k] ? "antagonist" : "redundant", group,
                 chart->antagonist[k] ? " while driven joints agree (T64, T77)" : " (T64)");
    }
}

static void explain_row(Page *page, System *s, uint32_t i)
{
    const Row *row = &s->rows[i];
    char result[1400];
    name_result(page, i, result, sizeof result);
    say(page, "  %s %s; %s; %s", row->name, words_of_row(row),
        row->position.id ? "a place is kept, too" : "of velocities alone", result);
    write_formula(page, s, row->rate);
}

static void explain_speed(Page *page, System *s, uint32_t i)
{
    char result[1400];
    name_result(page, i, result, sizeof result);
    say(page,
        "  %s is a speed that the model describes its motion by, one more row (T54 [B Remark 4]); "
        "%s",
        s->rows[i].name, result);
    write_formula(page, s, sub(s->rows[i].rate, s->rows[i].symbol));
}

static void explain_dropped(Page *page)
{
    const System *s = page->derived;
    List list = {0};
    for (uint32_t i = 0; i < s->dropped_count; i++) add_name(&list, s->dropped[i].name);
    if (list.count) say(page, "  Dropped, for they hold whatever moves: %s", list.text);
}

static void explain_rows(Page *page)
{
    System *s = tr_system_copy(page->derived, page->err); // closed forms make expressions
    begin(page, "Constraints");
    if (!page->findings) say(page, "  There are none: all velocities are free.");
    for (uint32_t i = 0; s && page->findings && i < s->row_count; i++)
        (s->rows[i].is_speed ? explain_speed : explain_row)(page, s, i);
    explain_dropped(page);
    tr_system_free(s);
}

// ---- what is free, and what bears -------------------------------------------------------------

static void explain_freedom(Page *page)
{
    const System *s = page->reduced;
    const Chart *chart = page->findings ? page->findings->chart : NULL;
    List free_ones = {0};
    uint32_t *list = calloc(s->input_count + 1u, sizeof *list);
    const uint32_t count = list ? tr_independent(s, list) : 0;
    for (uint32_t i = 0; i < count; i++) add_name(&free_ones, tr_system_speed_name(s, list[i]));
    page->text.failed = page->text.failed || !list;
    free(list);
    begin(page, "What is free");
    if (chart) {
        uint32_t rows = 0;
        for (uint32_t i = 0; i < chart->rows; i++) rows += !page->derived->rows[i].is_open;
        say(page,
            "  %u rows, %u independent, %u with driven joints locked, of %u velocities that "
            "are not driven (T61-T63)",
            rows, chart->m, chart->m_locked, chart->passive);
        if (count)
            say(page, "  With v = H w + J v_driven + k, H^T M H w' = H^T (Q - c - M (h + J "
                      "v_driven')) is "
                      "left (T68-T71 [M 11-16, B 10-27])");
        say(page,
            "  Which rows give which velocities was chosen where it starts, and is chosen anew "
            "when pivots become small (T63, T65)");
    }
    say(page, "  w = (%s)%s", free_ones.text,
        count ? "" : ": nothing is free, driven joints and constraints say it all");
}

static void explain_reactions(Page *page)
{
    const System *s = page->derived;
    const Chart *chart = page->findings ? page->findings->chart : NULL;
    List open = {0}, leads = {0}, tensions = {0};
    for (uint32_t i = 0; chart && i < chart->rows; i++) {
        if (chart->hyperstatic[i]) add_name(&open, s->rows[i].name);
        if (s->rows[i].leads) add_name(&leads, s->rows[i].name);
        if (s->rows[i].tension.id) add_name(&tensions, s->rows[i].name);
    }
    if (!chart) return;
    begin(page, "Reactions");
    if (!open.count)
        say(page, "  They are unique: G^T lambda = M v' + c - Q along dependent velocities (T73)");
    else
        say(page, "  Not unique are those of %s (T74 [B 26]): %s", open.text,
            s->least_torques ? "torques of driven joints are least, and then reactions (T77)"
                             : "the least weighted sum of squares is taken, moments divided by the "
                               "model's length (T75, T192)");
    if (leads.count) say(page, "  These bear all they can: %s (T75)", leads.text);
    if (tensions.count) say(page, "  The model gives %s (T75 [B Remark 7])", tensions.text);
}

// ---- what nothing depends on -----------------------------------------------------------------

// Accelerations of what is free, with everything put in
static bool list_accelerations(Page *page, Exprs *list)
{
    System *s = page->reduced;
    uint32_t *free_ones = calloc(s->input_count + 1u, sizeof *free_ones);
    const uint32_t count = free_ones ? tr_independent(s, free_ones) : 0;
    for (uint32_t i = 0; i < count; i++) exprs_add(list, s->inputs[free_ones[i]].rate);
    tr_system_resolve(s, list->at, list->count);
    const bool good = free_ones && !list->failed && !s->graph->failed;
    free(free_ones);
    if (!good) tr_fail_memory(page->err);
    return good;
}

static void explain_symmetries(Page *page, const Exprs *list)
{
    const System *s = page->reduced;
    Reach reach;
    List names = {0};
    bool *used = calloc(s->graph->count + 1u, sizeof *used);
    if (used && tr_reach(s->graph, list->at, list->count, &reach)) {
        for (uint32_t k = 0; k < reach.count; k++) used[reach.ids[k]] = true;
        for (uint32_t i = 0; i < s->input_count; i++)
            if (s->inputs[i].kind == TR_POSITION && !s->inputs[i].definition.id &&
                !used[s->inputs[i].symbol.id])
                add_name(&names, s->inputs[i].name);
        tr_reach_free(&reach);
    }
    free(used);
    if (!names.count || !list->count) return;
    begin(page, "Symmetries");
    say(page, "  Accelerations do not depend on %s: the motion is the same wherever these are",
        names.text);
}

// ---- forms -----------------------------------------------------------------------------------

static void name_form(const MadeForm *form, char *words, size_t size)
{
    static const struct {
        unsigned way;
        const char *words;
    } local[] = {{FORM_GROUNDS, ", links seen from where their wheels touch (T183)"},
                 {FORM_LATE, ", drifts of late rows beside inverse dynamics"},
                 {FORM_ARTICULATES, ", free speeds articulated"},
                 {FORM_PROJECTS, ", links that few speeds move projected one by one"},
                 {FORM_AT_ONCE, ", all links projected in the end"}};
    if (form->kind == FORM_GLOBAL)
        snprintf(words, size, "from all of M, row by row (T68-T71)");
    else if (form->kind != FORM_LOCAL)
        snprintf(words, size, "%s%s%s",
                 form->kind == FORM_ARTICULATED ? "articulated inertias (T126)"
                                                : "the mass matrix, factorised (T20, T71)",
                 form->ways & FORM_ALONG ? ", links along their hinges (T117, T118)" : "",
                 form->ways & FORM_LOADED ? ", what is symmetric handed to the parent (T119)" : "");
    else
        snprintf(words, size, "along the tree (T181, T182)");
    for (size_t i = 0; form->kind == FORM_LOCAL && i < sizeof local / sizeof *local; i++)
        if (form->ways & local[i].way) {
            const size_t length = strlen(words);
            snprintf(words + length, size - length, "%s", local[i].words);
        }
}

static void explain_form(Page *page, uint32_t k)
{
    const System *s = page->reduced;
    const MadeForm *form = &s->forms[k];
    char words[400];
    const bool is_kept = k == s->form_kept;
    name_form(form, words, sizeof words);
    if (form->count)
        say(page, "  %s: %zu %s%s", words, form->count,
            form->kind <= FORM_FACTORISED ? "instructions" : "operations", is_kept ? ", kept" : "");
    else
        say(page, "  %s: %s", words, "kept, for nothing else is built here");
}

// As it stands, with equal nodes merged, with other brackets, and as it is compiled
static void explain_forms(Page *page, const Exprs *list)
{
    System *s = page->reduced;
    if (!list->count) return;
    begin(page, "Forms");
    for (uint32_t k = 0; k < s->form_count; k++) explain_form(page, k);
    const size_t stands = tr_system_operations(s, list->at, list->count);
    tr_program *program = tr_compile_values(s, list->at, list->count, true, page->err);
    const size_t compiled = tr_program_sizes(program).operations;
    tr_program_free(program);
    tr_merge(s->graph, list->at, list->count, list->at);
    const size_t merged = tr_system_operations(s, list->at, list->count);
    tr_shorten(s->graph, list->at, list->count);
    const size_t shortened = tr_system_operations(s, list->at, list->count);
    say(page,
        "  From the state to the accelerations: %zu operations as they stand, %zu with what is "
        "always equal merged, %zu with sums and products rearranged; %zu as a program",
        stands, merged, shortened, compiled);
}

// ---- all of it -------------------------------------------------------------------------------

// Reduced where it starts, as `derive` tells of it
static System *reduced_at_start(Plan *plan, tr_error *err)
{
    Flow *flow = tr_flow_new(plan, NULL, err);
    System *s = flow ? tr_flow_system(flow, err) : NULL;
    tr_flow_free(flow);
    return s;
}

static void explain(Page *page)
{
    Exprs list = {0};
    explain_coordinates(page);
    explain_frames(page);
    explain_rows(page);
    explain_freedom(page);
    explain_reactions(page);
    if (!has_failed(page->err) && list_accelerations(page, &list)) {
        explain_symmetries(page, &list);
        explain_forms(page, &list);
    }
    tr_exprs_free(&list);
}

// What equations say behind the title and before the end
static void add_equations(Page *page, const tr_equations_options *o)
{
    char *equations = tr_equations_text(page->derived, o, page->err);
    if (!equations) return;
    Page title = {.language = page->language};
    put_prose(&title, page->language->begin, o->title);
    const size_t length = strlen(equations), skipped = title.text.length,
                 end = strlen(page->language->end);
    if (title.text.at && length >= skipped + end)
        tr_buffer_add(&page->text, equations + skipped, length - skipped - end);
    free(title.text.at);
    tr_text_free(equations);
}

char *tr_explain(const tr_system *system, const tr_equations_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_equations_options o = tr_equations_defaults();
    o.show = "";
    if (!system || !tr_take_options(&o, sizeof o, options, "tr_equations_defaults", err))
        return NULL;
    tr_equations_whole(&o, "");
    Page page = {.derived = system, .language = tr_language(o.language, err), .err = err};
    page.is_asked = o.most_operations > 0;
    page.most = o.most_operations ? o.most_operations : MOST_OPERATIONS;
    if (system->order == 1)
        tr_fail(err, TR_USAGE, (Place){0}, "equations are those of second order: --order 2");
    Plan *plan = page.language && !has_failed(err) ? tr_plan_new(system, err) : NULL;
    if (plan)
        page.reduced =
            system->row_count ? reduced_at_start(plan, err) : tr_system_copy(system, err);
    if (page.reduced) page.findings = tr_plan_examine(plan, err);
    if (!has_failed(err) && page.reduced) {
        put_prose(&page, page.language->begin, o.title);
        explain(&page);
        if (o.show[0] && !has_failed(err)) add_equations(&page, &o);
        tr_listing_fill(&page.text, page.language->end, "", "");
    }
    tr_system_free(page.reduced);
    tr_plan_free(plan);
    if (page.text.failed) tr_fail_memory(err);
    if (!has_failed(err)) return page.text.at;
    free(page.text.at);
    return NULL;
}
