// SPDX-License-Identifier: Apache-2.0
// C of the unreduced form: what does not depend on the model are texts, which these tables and
// sizes tell about it (T381-T383).
#include "export/c_printer.h"
#include "export/embedded.h"
#include "export/identifier.h"
#include "export/unreduced.h"
#include "expr/forest.h"

#include <stdio.h>
#include <stdlib.h>

// ---- what the workspace takes --------------------------------------------------------------

// Sums of all that may be there at once, whoever asks
uint32_t tr_c_unreduced_room(const Printer *p)
{
    const Export *code = p->code;
    const Terms t = tr_code_terms(code);
    const uint32_t x = code->x.count, n = t.n, m = t.m, contacts = t.contacts;
    const uint32_t state = x + t.count + tr_code_found(code).count;
    const uint32_t solving = 2 * m * m + (n + m) * (n + m) + n + m;
    const uint32_t search = n * n + 2 * m * n + n + 6 * m + 6 * m * m + m * (contacts + 1);
    const uint32_t conditions =
        (code->phi_count + code->quaternion_count + 1) * (code->projected_count + 3);
    const uint32_t projection = 2 * conditions + code->phi_count * code->phi_count +
                                2 * code->phi_count * code->quaternion_count +
                                code->quaternion_count * code->quaternion_count;
    const uint32_t margins = 3 * (tr_code_alarms(code->system) + contacts);
    const uint32_t change = x + code->u.count + 1 + code->p.count;
    const uint32_t changes =
        state + 2 * change + x + 2 * m * m + code->phi_count * (1 + code->projected_count);
    return 2 * state + solving + search + m * n + projection + margins + 14 * x + code->u.count +
           changes + p->room;
}

// ---- tables --------------------------------------------------------------------------------

static void write_sizes(Printer *p)
{
    const Export *code = p->code;
    const Terms t = tr_code_terms(code);
    const Found f = tr_code_found(code);
    const uint32_t driven = f.closed - f.motors;
    // one list, for C++ does not like sums of members of several
    tr_buffer_print(&p->body,
                    "enum {\n    POSITIONS = %u, SPEEDS = %u, DRIVEN = %u, FREE = SPEEDS - DRIVEN, "
                    "ROWS = %u, CONTACTS = %u,\n",
                    code->positions, t.n, driven, t.m, t.contacts);
    tr_buffer_print(&p->body,
                    "    T_M = %u, T_G = %u, T_REST = %u, T_BIAS = %u, T_C = %u, T_Q = %u, "
                    "T_W = %u,\n    T_DRIVEN = %u, T_WEIGHT = %u, T_CONTACTS = %u, T_ALL = %u,\n",
                    t.M, t.G, t.rest, t.bias, t.c, t.Q, t.W, t.driven, t.weight, t.latch, t.count);
    tr_buffer_print(&p->body, "    S_CLOSED = %u, S_ALL = %u\n};\n", f.closed, f.count);
}

// Where rows and velocities are in the tree, and slopes that are 1 or -1 wherever it stands
static void write_tree(Printer *p)
{
    const System *s = p->code->system;
    const Forest *f = s->forest;
    const uint32_t rows = p->code->flow->footing->constraints, links = f ? f->link_count : 0;
    Buffer *out = &p->body;
    bool deep = false;
    tr_buffer_print(out, "static const int row_link[ROWS + 1] = {");
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t base = f ? s->rows[i].base : NO_LINK;
        const bool is_root = base == NO_LINK || f->links[base].parent == NO_LINK;
        deep = deep || (!is_root && !s->rows[i].is_behind);
        tr_buffer_print(out, "%d, ", base == NO_LINK ? -1 : (int)base);
    }
    tr_buffer_print(out, "-1};\nstatic const int row_is_behind[ROWS + 1] = {");
    for (uint32_t i = 0; i < rows; i++) tr_buffer_print(out, "%d, ", s->rows[i].is_behind);
    tr_buffer_print(out, "0};\nenum { LINKS = %u, IS_DEEP = %d };\n", links, deep);
    tr_buffer_print(out, "static const int link_parent[LINKS + 1] = {");
    for (uint32_t i = 0; i < links; i++)
        tr_buffer_print(out, "%d, ", f->links[i].parent == NO_LINK ? -1 : (int)f->links[i].parent);
    tr_buffer_print(out, "-1};\n");
}

static uint32_t link_of(const Forest *f, uint32_t velocity)
{
    for (uint32_t i = 0; f && i < f->link_count; i++)
        if (velocity >= f->links[i].velocity &&
            velocity < f->links[i].velocity + f->links[i].velocity_count)
            return i;
    return 0;
}

static bool is_unit(const Row *row, uint32_t velocity)
{
    const Expr *slopes = row->inner_slopes ? row->inner_slopes : row->slopes;
    return slopes && (is_value(slopes[velocity], 1) || is_value(slopes[velocity], -1));
}

static void write_slopes(Printer *p, const uint32_t *free_velocity, uint32_t count)
{
    const System *s = p->code->system;
    const uint32_t rows = p->code->flow->footing->constraints;
    Buffer *out = &p->body;
    uint32_t *is = calloc((size_t)rows * count + count + 1, sizeof *is);
    if (!is) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < count; k++)
            is[(size_t)i * count + k] = is_unit(&s->rows[i], free_velocity[k]);
    tr_c_integers(out, "static const int has_unit_slope[ROWS * FREE + 1]", is, rows * count);
    for (uint32_t k = 0; k < count; k++) is[k] = link_of(s->forest, free_velocity[k]);
    tr_c_integers(out, "static const int velocity_link[FREE + 1]", is, count);
    free(is);
}

static void write_velocities(Printer *p)
{
    const System *s = p->code->system;
    uint32_t *at[4] = {0}, count[4] = {0};
    for (int i = 0; i < 4; i++)
        if (!(at[i] = calloc(p->code->velocities + 1u, sizeof *at[i]))) p->body.failed = true;
    for (uint32_t i = 0, k = 0; !p->body.failed && i < s->input_count; i++) {
        if (s->inputs[i].kind != TR_VELOCITY) continue;
        const bool driven = is_motion_driven(&s->inputs[i]);
        if (!driven) at[2][count[2]++] = s->inputs[i].preferred;
        if (!driven) at[3][count[3]++] = s->inputs[i].is_base;
        at[driven][count[driven]++] = k++;
    }
    tr_c_integers(&p->body, "static const int free_velocity[FREE + 1]", at[0], count[0]);
    tr_c_integers(&p->body, "static const int driven_velocity[DRIVEN + 1]", at[1], count[1]);
    tr_c_integers(&p->body, "static const int is_preferred[FREE + 1]", at[2], count[2]);
    tr_c_integers(&p->body, "static const int is_base[FREE + 1]", at[3], count[3]);
    if (!p->body.failed) write_slopes(p, at[0], count[0]);
    for (int i = 0; i < 4; i++) free(at[i]);
}

// Which condition on positions each row has, or -1; and what makes a velocity of it
static void write_rows(Printer *p)
{
    const Export *code = p->code;
    const uint32_t rows = code->flow->footing->constraints;
    Buffer *out = &p->body;
    uint32_t count = 0;
    tr_buffer_print(out, "static const int row_phi[ROWS + 1] = {");
    for (uint32_t i = 0; i < rows; i++) {
        const bool has = code->system->rows[i].position.id;
        if (has)
            tr_buffer_print(out, "%u, ", count++);
        else
            tr_buffer_print(out, "-1, ");
    }
    tr_buffer_print(out, "-1};\nstatic const %s row_unit[ROWS + 1] = {", p->real);
    for (uint32_t i = 0; i < rows; i++) {
        tr_walk_number(out, &p->tongue, code->system->rows[i].unit, code->options.is_single);
        tr_buffer_print(out, ", ");
    }
    tr_buffer_print(out, "1.0};\nenum { ROW_CONDITIONS = %u, ALL_CONDITIONS = %u };\n", count,
                    code->phi_count);
}

static void write_three(Buffer *out, const Latch *latch, const char *kind, const Export *code)
{
    tr_buffer_print(out, "{");
    for (uint32_t k = 0; k < 3; k++) {
        const bool has = k < latch->row_count;
        const char *comma = k ? ", " : "";
        if (kind[0] == 'r')
            tr_buffer_print(out, "%s%u", comma, has ? latch->rows[k] : 0);
        else if (kind[0] == 's')
            tr_buffer_print(out, "%s%d", comma, has && latch->sticks[k]);
        else {
            const Input *input = has && latch->heading[k].id
                                     ? tr_system_input(code->system, latch->heading[k])
                                     : NULL;
            tr_buffer_print(
                out, "%s%d", comma,
                input ? (int)tr_code_entry(code, (uint32_t)(input - code->system->inputs)) : -1);
        }
    }
    tr_buffer_print(out, "}, ");
}

static void write_contacts(Printer *p)
{
    const Export *code = p->code;
    const System *s = code->system;
    Buffer *out = &p->body;
    tr_buffer_print(out,
                    "\n/* Rows, which of them may slip, and entries of x for where they head */\n"
                    "enum { CONTACT, STOP, GRIP };\n"
                    "typedef struct contact {\n"
                    "    int kind, count, row[3], sticks[3], heading[3], opens, slips, has_load;\n"
                    "} contact;\n"
                    "static const contact contacts[CONTACTS + 1] = {\n");
    for (uint32_t i = 0; i < s->latch_count; i++) {
        const Latch *latch = &s->latches[i];
        static const char *const kinds[] = {"CONTACT", "STOP", "GRIP"};
        tr_buffer_print(out, "    {%s, %u, ", kinds[latch->kind], latch->row_count);
        write_three(out, latch, "rows", code);
        write_three(out, latch, "sticks", code);
        write_three(out, latch, "heading", code);
        tr_buffer_print(out, "%d, %d, %d}, /* ", latch->opens, latch->slips, latch->load.id != 0);
        tr_buffer_comment(out, latch->name);
        tr_buffer_print(out, " */\n");
    }
    tr_buffer_print(out, "    {CONTACT, 0, {0, 0, 0}, {0, 0, 0}, {-1, -1, -1}, 0, 0, 0}};\n");
}

static void write_alarms(Printer *p)
{
    const System *s = p->code->system;
    Buffer *out = &p->body;
    static const char *const kinds[] = {"OPENS", "TOUCHES", "SLIPS", "STICKS", "RETURNS"};
    uint32_t fastest = 0;
    while (fastest < p->code->x.count && p->code->x.at[fastest].input != NO_INPUT) fastest++;
    tr_buffer_print(out,
                    "\n/* What goes off where its margin becomes negative */\n"
                    "enum { OPENS, TOUCHES, SLIPS, STICKS, RETURNS };\n"
                    "enum { ALARMS = %u, FASTEST = %d };\n"
                    "typedef struct alarm {\n    int kind, contact;\n} alarm;\n"
                    "static const alarm alarms[ALARMS + 1] = {\n",
                    tr_code_alarms(s), fastest < p->code->x.count ? (int)fastest : -1);
    for (uint32_t k = 0; k < s->alarm_count; k++)
        if (s->alarms[k].kind > ALARM_HOLLOW)
            tr_buffer_print(out, "    {%s, %u},\n", kinds[s->alarms[k].kind - ALARM_OPENS],
                            s->alarms[k].latch);
    tr_buffer_print(out, "    {OPENS, 0}};\n\n");
}

// ---- functions -----------------------------------------------------------------------------

static void write_project(Printer *p)
{
    const Export *code = p->code;
    char project[200] = "";
    snprintf(project, sizeof project, "%s%s", code->quaternion_count ? "    make_units(x);\n" : "",
             code->phi_count ? "    back_onto_constraints(t, x, u, p, mode, w);\n" : "");
    const Mark marks[] = {{"project", project}, {NULL, NULL}};
    tr_c_projection(p);
    tr_c_fill_in(p, &p->body, tr_embedded_c_unreduced_project(), marks);
}

// How all changes: in an FMU as a function, else for the columns of the Jacobian
static void write_tangent(Printer *p)
{
    static const char head[] =
        "(@real@ t, const @real@ *x, const @real@ *u, const @real@ *p, const int *mode, "
        "const @real@ *change, @real@ *d, @real@ *w)";
    static const char of_outputs[] =
        "    for (int i = @NAME@_NX; i < @NAME@_NX + @NAME@_NY; i++) d[i] = 0;\n"
        "    change_outputs(t, at.x, u, p, dz, at.s, d + @NAME@_NX, at.w);\n"
        "    copy(dz, POSITIONS + SPEEDS, d + @NAME@_NX + @NAME@_NY);\n";
    static const char of_conditions[] =
        "    enum { CHANGED = ALL_CONDITIONS * (1 + PROJECTED) };\n"
        "    double *df = d + @NAME@_NX + @NAME@_NY + POSITIONS + SPEEDS, *all = at.w;\n"
        "    for (int i = 0; i < CHANGED; i++) all[i] = 0;\n"
        "    change_projection(t, at.x, u, p, dz, at.s, all, all + CHANGED);\n"
        "    pick_conditions(mode, all, df, df + ALL_CONDITIONS);\n";
    const bool is_fmu = p->code->options.is_fmu;
    const bool has_conditions = is_fmu && p->code->phi_count;
    Buffer full = {0}, besides = {0};
    if (is_fmu)
        tr_buffer_print(&full, "void %s_tangent", p->code->options.name);
    else
        tr_buffer_print(&full, "static void go_along");
    tr_c_fill_in(p, &full, text_of(head), NULL);
    if (is_fmu) tr_c_fill_in(p, &besides, text_of(of_outputs), NULL);
    if (has_conditions) tr_c_fill_in(p, &besides, text_of(of_conditions), NULL);
    const Mark marks[] = {
        {"head", full.at ? full.at : ""}, {"besides", besides.at ? besides.at : ""}, {NULL, NULL}};
    tr_c_function(p, PART_FOLLOW_CHANGE, "change_follow", "f", false, &p->code->x);
    tr_c_function(p, PART_ROWS_CHANGE, "change_rows", "T", false, NULL);
    tr_c_function(p, PART_TERMS_CHANGE, "change_terms", "T", false, NULL);
    tr_c_function(p, PART_RATES_CHANGE, "change_motion", "dx", false, &p->code->x);
    if (is_fmu) tr_c_function(p, PART_OUTPUTS_CHANGE, "change_outputs", "y", false, &p->code->y);
    if (has_conditions)
        tr_c_function(p, PART_PROJECTION_CHANGE, "change_projection", "f", false, NULL);
    tr_c_fill_in(p, &p->body, tr_embedded_c_unreduced_tangent(), marks);
    if (!is_fmu) tr_c_fill_in(p, &p->body, tr_embedded_c_columns(), NULL);
    p->body.failed = p->body.failed || full.failed || besides.failed;
    tr_buffer_free(&full);
    tr_buffer_free(&besides);
}

void tr_c_unreduced(Printer *p)
{
    const Export *code = p->code;
    const bool has_contacts = code->system->latch_count > 0;
    write_sizes(p);
    write_velocities(p);
    write_rows(p);
    write_tree(p);
    write_contacts(p);
    if (has_contacts) write_alarms(p);
    tr_buffer_print(&p->body, "\n");
    tr_c_function(p, PART_FOLLOW, "follow", "f", false, &code->x);
    tr_c_function(p, PART_ROWS, "evaluate_rows", "T", false, NULL);
    tr_c_function(p, PART_TERMS, "evaluate_terms", "T", false, NULL);
    tr_c_function(p, PART_RATES, "motion", "dx", false, &code->x);
    tr_c_function(p, PART_OUTPUTS, "output_entries", "y", false, &code->y);
    if (has_contacts) tr_c_function(p, PART_MARGINS, "evaluate_margins", "f", false, NULL);
    if (code_has(code, PART_WATCHED))
        tr_c_function(p, PART_WATCHED, "evaluate_watched", "f", false, NULL);
    tr_c_fill_in(p, &p->body, tr_embedded_c_unreduced(), NULL);
    write_project(p);
    write_tangent(p);
    if (has_contacts) tr_c_fill_in(p, &p->body, tr_embedded_c_contacts(), NULL);
    tr_c_fill_in(p, &p->body,
                 has_contacts ? tr_embedded_c_events() : tr_embedded_c_unreduced_step(), NULL);
    tr_c_samples(p);
    tr_c_step(p);
}
