// SPDX-License-Identifier: Apache-2.0
// Pictures of recorded runs: which columns are drawn, in which panels, and what they are called.
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/options.h"
#include "base/sheet.h"
#include "base/text.h"
#include "sim/recorded.h"
#include "view/axis.h"
#include "view/column.h"
#include "view/figure.h"
#include "view/label.h"
#include "view/land.h"
#include "view/sweep_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_WIDTH = 200, // [px]
    MOST_PIXELS = 10000,
    ALIKE = 5,       // columns may share a panel when their sizes differ by this factor at most
    PANEL_MOST = 6,  // and when they are not more than this
    PANELS_MOST = 8, // unless asked for more
};

// What a certificate says of a column
typedef struct Known {
    const char *name, *unit, *owner, *component;
    Quantity quantity;
} Known;

typedef struct Run {
    Sheet *sheet;
    Known *known; // columns, where there is a certificate that has them
    size_t known_count;
} Run;

typedef struct Plot {
    const tr_plot_options *options;
    Arena arena;
    Run *run;
    Labelled *labels; // of the runs
    size_t runs;
    Panel *panels;
    size_t count;
    Land *land; // below the tracks; NULL where it is flat or not known
    tr_error *err;
} Plot;

// Memory of the plot; NULL, and the error says so, when there is none.
static void *alloc(Plot *plot, size_t count, size_t size)
{
    void *memory = tr_arena_alloc(&plot->arena, count, size);
    if (!memory) tr_fail_memory(plot->err);
    return memory;
}

// The text in the buffer, which is freed, as memory of the plot.
static const char *keep(Plot *plot, Buffer *buffer)
{
    const char *text =
        buffer->failed ? NULL
                       : tr_arena_text(&plot->arena, buffer->at ? buffer->at : "", buffer->length);
    tr_buffer_free(buffer);
    if (!text) tr_fail_memory(plot->err);
    return text ? text : "";
}

// ---- runs ----------------------------------------------------------------------------------

static double *column(const Sheet *sheet, size_t index)
{
    return sheet->values + index * sheet->rows;
}

// What no axis can show becomes a gap, and what is next to nothing becomes 0.
static void clean(const Sheet *sheet)
{
    for (size_t i = 0; i < sheet->columns * sheet->rows; i++) {
        const double size = fabs(sheet->values[i]);
        if (!(size <= TR_AXIS_LARGEST)) sheet->values[i] = (double)NAN;
        if (size < TR_AXIS_SMALLEST) sheet->values[i] = 0;
    }
}

// Rows outside the times asked for become gaps. Without a column t, x is what counts.
static void cut(Plot *plot, const Sheet *sheet, const char *path)
{
    const tr_plot_options *o = plot->options;
    if (isnan(o->from) && isnan(o->to)) return;
    const char *name = tr_sheet_column(sheet, "t") || !o->x ? "t" : o->x;
    const double *t = tr_sheet_column(sheet, name);
    if (!t) {
        tr_fail(plot->err, TR_USAGE, (Place){0}, "'%.200s' has no column '%.60s' to cut by", path,
                name);
        return;
    }
    Range all = tr_range_empty();
    size_t left = 0;
    for (size_t i = 0; i < sheet->rows; i++) {
        all = tr_range_with(all, t[i]);
        if (!(t[i] < o->from) && !(t[i] > o->to)) {
            left++;
            continue;
        }
        for (size_t k = 0; k < sheet->columns; k++)
            if (column(sheet, k) != t) column(sheet, k)[i] = (double)NAN;
        sheet->values[(size_t)(t - sheet->values) + i] = (double)NAN;
    }
    if (!left)
        tr_fail(plot->err, TR_USAGE, (Place){0},
                "'%.200s' has no rows there: its %.60s is from %g to %g", path, name, all.low,
                all.high);
}

// A text of the certificate; "" when it is none
static const char *certified(Plot *plot, Text column, const char *key)
{
    Buffer text = {0};
    if (!tr_json_string(tr_json_member(column, key), &text)) tr_buffer_free(&text);
    return keep(plot, &text);
}

// What the certificate beside a run says of its columns. One that cannot be used says nothing.
static void read_known(Plot *plot, Run *run, const Recorded *recorded)
{
    const tr_plot_options *o = plot->options;
    const bool is_used = recorded->bytes && !recorded->doubt.status;
    if (recorded->doubt.status && o->say) o->say(o->owner, recorded->doubt.text);
    const Text list = is_used ? tr_json_member(recorded->certificate, "columns") : (Text){0};
    size_t count = 0;
    while (list.at && tr_json_item(list, count).at) count++;
    run->known = alloc(plot, count + 1, sizeof *run->known);
    for (size_t i = 0; run->known && i < count; i++) {
        const Text column = tr_json_item(list, i);
        run->known[run->known_count++] =
            (Known){certified(plot, column, "name"), certified(plot, column, "unit"),
                    certified(plot, column, "owner"), certified(plot, column, "component"),
                    tr_quantity_called(text_of(certified(plot, column, "quantity")))};
    }
}

// That of the model which is given, or else of the first run that has one
static void find_land(Plot *plot, const char *path, const Recorded *recorded)
{
    const tr_plot_options *o = plot->options;
    const bool is_used = recorded->bytes && !recorded->doubt.status;
    if (!o->track || plot->land || (!o->model && !is_used)) return;
    const Text certificate = is_used ? recorded->certificate : (Text){0};
    const char *file = certified(plot, certificate, "model_file"),
               *hash = certified(plot, certificate, "model_sha256");
    bool has_changed = false;
    if (has_failed(plot->err)) return;
    if (o->model)
        plot->land = tr_land_read(path, o->model, hash, &has_changed, plot->err);
    else
        plot->land = tr_land_of(path, file, hash, plot->err);
    Buffer words = {0};
    tr_buffer_print(&words, "'%s' has changed since the run was made", o->model ? o->model : "");
    const char *kept = keep(plot, &words);
    if (has_changed && o->say) o->say(o->owner, kept);
}

static const Known *known_column(const Run *run, const char *name)
{
    for (size_t i = 0; i < run->known_count; i++)
        if (strcmp(run->known[i].name, name) == 0) return &run->known[i];
    return NULL;
}

// The unit of a column, or NULL
static const char *unit_in(const Run *run, const char *name)
{
    const Known *known = known_column(run, name);
    if (!known) return tr_unit_of(name);
    return known->unit[0] ? known->unit : NULL;
}

// The unit of a column that all runs agree on, or NULL
static const char *unit_of(const Plot *plot, const char *name)
{
    const char *unit = unit_in(&plot->run[0], name);
    for (size_t i = 1; unit && i < plot->runs; i++) {
        const char *other = unit_in(&plot->run[i], name);
        if (!other || strcmp(unit, other) != 0) unit = NULL;
    }
    return unit;
}

// For what the run is called beside others
static void keep_certificate(Plot *plot, size_t index, const Recorded *recorded)
{
    const Text text = recorded->certificate;
    if (!recorded->bytes || recorded->doubt.status || plot->runs < 2) return;
    const char *kept = tr_arena_text(&plot->arena, text.at, text.length);
    if (!kept) tr_fail_memory(plot->err);
    plot->labels[index].certificate = (Text){kept, kept ? text.length : 0};
}

static void read_run(Plot *plot, size_t index)
{
    const char *path = plot->options->runs[index];
    tr_error own = {0};
    Recorded recorded;
    tr_recorded_read(&recorded, path, &own);
    Sheet *sheet = plot->run[index].sheet = recorded.rows;
    recorded.rows = NULL;
    if (own.line > 0)
        tr_fail(plot->err, own.status, place_at(own.line, own.column), "%.200s:%d: %.250s", path,
                own.line, own.text);
    else if (own.status)
        tr_fail(plot->err, own.status, (Place){0}, "%s", own.text);
    if (sheet && sheet->rows == 0)
        tr_fail(plot->err, TR_INVALID, (Place){0}, "'%.200s' has no rows", path);
    if (sheet) {
        clean(sheet);
        cut(plot, sheet, path);
        read_known(plot, &plot->run[index], &recorded);
        find_land(plot, path, &recorded);
        keep_certificate(plot, index, &recorded);
    }
    tr_recorded_free(&recorded);
}

static void read_runs(Plot *plot)
{
    const tr_plot_options *o = plot->options;
    plot->run = alloc(plot, o->run_count, sizeof *plot->run);
    plot->labels = alloc(plot, o->run_count, sizeof *plot->labels);
    if (!plot->run || !plot->labels) return;
    plot->runs = o->run_count;
    for (size_t i = 0; i < plot->runs && !has_failed(plot->err); i++) {
        plot->labels[i].path = o->runs[i];
        read_run(plot, i);
    }
    if (!has_failed(plot->err)) tr_label_runs(plot->labels, plot->runs, &plot->arena, plot->err);
}

// ---- columns that are asked for ------------------------------------------------------------

// The column, or NULL after saying which one may have been meant.
static const double *find_column(Plot *plot, size_t run, const char *name)
{
    const Sheet *sheet = plot->run[run].sheet;
    const double *found = tr_sheet_column(sheet, name);
    if (found) return found;
    Suggestion nearest = {.wanted = text_of(name)};
    for (size_t i = 0; i < sheet->columns; i++) tr_suggest(&nearest, text_of(sheet->names[i]));
    char hint[TR_HINT_SIZE];
    tr_fail(plot->err, TR_USAGE, (Place){0}, "'%.200s' has no column '%.60s'%s",
            plot->options->runs[run], name, tr_hint(&nearest, hint));
    return NULL;
}

// The names of a list between commas. A column whose own name has commas stands alone.
static const char **split(Plot *plot, const char *list, size_t *count)
{
    *count = 1;
    const bool is_one = tr_sheet_column(plot->run[0].sheet, list);
    for (const char *c = list; *c && !is_one; c++) *count += *c == ',';
    const char **names = alloc(plot, *count, sizeof *names);
    for (size_t i = 0; names && i < *count; i++) {
        const size_t length = is_one ? strlen(list) : strcspn(list, ",");
        names[i] = tr_arena_text(&plot->arena, list, length);
        if (!names[i]) return tr_fail_memory(plot->err), NULL;
        list += length + 1;
    }
    return names;
}

// What a curve is called among those of its panel.
static const char *curve_name(Plot *plot, size_t run, const char *name, bool is_only)
{
    if (plot->runs == 1) return name;
    if (is_only) return plot->labels[run].label;
    Buffer text = {0};
    tr_buffer_print(&text, "%s: %s", plot->labels[run].label, name);
    return keep(plot, &text);
}

// What several columns are, in a word, as the first run has it: "angle"; "" when they differ
static const char *common_quantity(const Plot *plot, const char *const *names, size_t count)
{
    const Known *first = known_column(&plot->run[0], names[0]);
    for (size_t i = 1; first && i < count; i++) {
        const Known *other = known_column(&plot->run[0], names[i]);
        if (!other || other->quantity != first->quantity) first = NULL;
    }
    return first ? tr_quantity_words(first->quantity) : "";
}

// A panel with these columns of every run. Several columns share a unit or show none.
static void add_panel(Plot *plot, const char *const *names, size_t count)
{
    Curve *curves = names ? alloc(plot, plot->runs * count, sizeof *curves) : NULL;
    if (!curves || has_failed(plot->err)) return;
    Panel *panel = &plot->panels[plot->count];
    *panel = (Panel){curves, plot->runs * count,
                     count == 1 ? names[0] : common_quantity(plot, names, count),
                     unit_of(plot, names[0]), plot->runs * count > 1};
    for (size_t i = 1; i < count; i++) {
        const char *unit = unit_of(plot, names[i]);
        if (!unit || !panel->unit || strcmp(unit, panel->unit) != 0) panel->unit = NULL;
    }
    const char *x = plot->options->x ? plot->options->x : "t";
    for (size_t run = 0; run < plot->runs; run++)
        for (size_t i = 0; i < count; i++)
            curves[run * count + i] = (Curve){
                .name = curve_name(plot, run, names[i], count == 1),
                .x = find_column(plot, run, x),
                .y = find_column(plot, run, names[i]),
                .rows = plot->run[run].sheet->rows,
            };
    plot->count++;
}

// ---- columns when none are asked for -------------------------------------------------------

static bool has_rate(const Sheet *sheet, const char *name)
{
    char rate[200];
    snprintf(rate, sizeof rate, "%.190s_rate", name);
    return tr_sheet_column(sheet, rate);
}

static bool is_rate(const Sheet *sheet, const char *name)
{
    char of[200];
    snprintf(of, sizeof of, "%.190s", name);
    if (!ends_with(of, "_rate")) return false;
    of[strlen(of) - strlen("_rate")] = 0;
    return tr_sheet_column(sheet, of);
}

// Of a column that a certificate knows: an output, a coordinate of a joint, its rate, the rest
static int known_interest(const Known *known)
{
    const char *group = tr_quantity_group(known->quantity);
    if (!known->owner[0] && strcmp(known->component, PORT_OUTPUT) == 0) return 4;
    if (known->quantity == QUANTITY_UNKNOWN) return strchr(known->name, '.') ? 1 : 4;
    if (known->component[0]) return 1;
    return strcmp(group, "coordinates") == 0 ? 3 : strcmp(group, "velocities") == 0 ? 2 : 1;
}

// How likely it is that someone wants to see a column: outputs of the model, coordinates of joints,
// what bodies and contacts do, never the column of the x axis.
static int interest(const Plot *plot, const char *name)
{
    const char *x = plot->options->x ? plot->options->x : "t";
    if (strcmp(name, x) == 0 || strcmp(name, "t") == 0) return 0;
    const Known *known = known_column(&plot->run[0], name);
    if (known) return known_interest(known);
    if (strchr(name, '.')) return 1;
    if (is_rate(plot->run[0].sheet, name)) return 2;
    return has_rate(plot->run[0].sheet, name) ? 3 : 4;
}

// The largest number of a column; 0 when it has none.
static double size_of(const Sheet *sheet, size_t index)
{
    double size = 0;
    for (size_t i = 0; i < sheet->rows; i++) size = fmax(size, fabs(column(sheet, index)[i]));
    return size;
}

typedef struct Group {
    const char *names[PANEL_MOST];
    size_t count;
    double size;      // of the first
    const char *unit; // of all; NULL when it is not known
} Group;

static bool is_same_unit(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// Where a column of this size and unit goes; columns of zeros go with any size.
static Group *group_for(Group *groups, size_t *count, double size, const char *unit)
{
    for (size_t i = 0; i < *count; i++) {
        const double ratio = size > 0 && groups[i].size > 0 ? size / groups[i].size : 1;
        if (groups[i].count < PANEL_MOST && ratio <= ALIKE && ratio >= 1.0 / ALIKE &&
            is_same_unit(unit, groups[i].unit))
            return &groups[i];
    }
    if (*count == PANELS_MOST) return NULL;
    groups[*count].size = size, groups[*count].unit = unit;
    return &groups[(*count)++];
}

// The most interesting kind of columns, those of like size in one panel.
static void choose_panels(Plot *plot)
{
    const Sheet *sheet = plot->run[0].sheet;
    int best = 0;
    for (size_t i = 0; i < sheet->columns; i++)
        best = (int)fmax(best, interest(plot, sheet->names[i]));
    Group groups[PANELS_MOST] = {0};
    size_t count = 0;
    for (size_t i = 0; best && i < sheet->columns; i++) {
        if (interest(plot, sheet->names[i]) != best) continue;
        Group *group = group_for(groups, &count, size_of(sheet, i), unit_of(plot, sheet->names[i]));
        if (group) group->names[group->count++] = sheet->names[i];
    }
    if (!count)
        tr_fail(plot->err, TR_INVALID, (Place){0}, "'%.200s' has nothing to draw against its x",
                plot->options->runs[0]);
    plot->panels = alloc(plot, PANELS_MOST, sizeof *plot->panels);
    for (size_t i = 0; plot->panels && i < count; i++) {
        const char **names = alloc(plot, groups[i].count, sizeof *names);
        if (names) memcpy(names, groups[i].names, groups[i].count * sizeof *names);
        add_panel(plot, names, groups[i].count);
    }
}

static void fill_panels(Plot *plot)
{
    const tr_plot_options *o = plot->options;
    if (has_failed(plot->err) || !find_column(plot, 0, o->x ? o->x : "t")) return;
    if (!o->panel_count) {
        choose_panels(plot);
        return;
    }
    plot->panels = alloc(plot, o->panel_count, sizeof *plot->panels);
    for (size_t i = 0; plot->panels && i < o->panel_count; i++) {
        size_t count;
        const char **names = split(plot, o->panels[i], &count);
        add_panel(plot, names, count);
    }
}

// ---- tracks --------------------------------------------------------------------------------

// How the two columns of a track may be called, in order of preference.
static const struct {
    const char *before, *x, *y;
} pairs[] = {{"contact.", ".x", ".y"}, {"", ".x", ".y"}, {"", "_x", "_y"}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

// The columns of a track, or false.
static bool find_track(const Sheet *sheet, const char *name, const double **x, const double **y)
{
    for (int i = 0; i < PAIRS; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%.200s%s", pairs[i].before, name, pairs[i].x);
        *x = tr_sheet_column(sheet, path);
        snprintf(path, sizeof path, "%s%.200s%s", pairs[i].before, name, pairs[i].y);
        *y = tr_sheet_column(sheet, path);
        if (*x && *y) return true;
    }
    return false;
}

// How well the places of a track are known, where the run says so
static void find_spread(const Sheet *sheet, const char *name, const double **spread)
{
    for (int i = 0; i < PAIRS && !spread[0]; i++) {
        char x[300], y[300], path[700];
        snprintf(x, sizeof x, "%s%.200s%s", pairs[i].before, name, pairs[i].x);
        snprintf(y, sizeof y, "%s%.200s%s", pairs[i].before, name, pairs[i].y);
        if (!tr_sheet_column(sheet, x) || !tr_sheet_column(sheet, y)) continue;
        snprintf(path, sizeof path, "cov(%s:%s)", x, y);
        spread[2] = tr_sheet_column(sheet, path);
        snprintf(path, sizeof path, "sd(%s)", y);
        spread[1] = tr_sheet_column(sheet, path);
        snprintf(path, sizeof path, "sd(%s)", x);
        spread[0] = spread[1] && spread[2] ? tr_sheet_column(sheet, path) : NULL;
        return;
    }
}

// The name of the track that a column is the x of, in the words of pair `kind`; NULL when it is
// none.
static const char *track_of(Plot *plot, const Sheet *sheet, const char *name, int kind)
{
    const char *before = pairs[kind].before;
    if (!begins_with(name, before) || !ends_with(name, pairs[kind].x)) return NULL;
    if (kind > 0 && begins_with(name, pairs[0].before)) return NULL;
    Buffer track = {0};
    tr_buffer_add(&track, name + strlen(before),
                  strlen(name) - strlen(before) - strlen(pairs[kind].x));
    const char *found = keep(plot, &track);
    const double *x, *y;
    return find_track(sheet, found, &x, &y) ? found : NULL;
}

// All tracks there are of one kind.
static const char **all_tracks(Plot *plot, int kind, size_t *count)
{
    const Sheet *sheet = plot->run[0].sheet;
    *count = 0;
    const char **names = alloc(plot, sheet->columns, sizeof *names);
    for (size_t i = 0; names && i < sheet->columns; i++) {
        const char *track = track_of(plot, sheet, sheet->names[i], kind);
        if (track) names[(*count)++] = track;
    }
    return names;
}

static void fail_no_track(Plot *plot)
{
    tr_fail(plot->err, TR_USAGE, (Place){0},
            "'%.200s' has no track: no columns contact.NAME.x and .y, NAME.x and .y, or NAME_x "
            "and _y",
            plot->options->runs[0]);
}

static void fail_track(Plot *plot, size_t run, const char *name)
{
    Suggestion nearest = {.wanted = text_of(name)};
    for (int kind = 0; kind < PAIRS; kind++) {
        size_t count;
        const char **known = all_tracks(plot, kind, &count);
        for (size_t i = 0; i < count; i++) tr_suggest(&nearest, text_of(known[i]));
    }
    char hint[TR_HINT_SIZE];
    if (!nearest.offered[0]) fail_no_track(plot);
    tr_fail(plot->err, TR_USAGE, (Place){0}, "'%.200s' has no track '%.60s'%s",
            plot->options->runs[run], name, tr_hint(&nearest, hint));
}

// The tracks asked for; else those of all contacts, else those of bodies.
static const char **choose_tracks(Plot *plot, size_t *count)
{
    if (plot->options->tracks) return split(plot, plot->options->tracks, count);
    const char **names = NULL;
    *count = 0;
    for (int kind = 0; kind < PAIRS && *count == 0; kind++) names = all_tracks(plot, kind, count);
    if (*count == 0) fail_no_track(plot);
    return names;
}

static void fill_track(Plot *plot)
{
    size_t count = 0;
    const char **names = has_failed(plot->err) ? NULL : choose_tracks(plot, &count);
    Curve *curves = names ? alloc(plot, plot->runs * count + 1, sizeof *curves) : NULL;
    plot->panels = alloc(plot, 1, sizeof *plot->panels);
    if (!curves || !plot->panels || has_failed(plot->err)) return;
    for (size_t run = 0; run < plot->runs; run++)
        for (size_t i = 0; i < count; i++) {
            Curve *curve = &curves[run * count + i];
            curve->name = curve_name(plot, run, names[i], count == 1);
            curve->rows = plot->run[run].sheet->rows;
            if (!find_track(plot->run[run].sheet, names[i], &curve->x, &curve->y))
                fail_track(plot, run, names[i]);
            find_spread(plot->run[run].sheet, names[i], curve->spread);
        }
    plot->panels[0] = (Panel){curves, plot->runs * count, "y", "m", true};
    plot->count = 1;
}

// ---- the picture ---------------------------------------------------------------------------

// Powers have no room for numbers that are not positive.
static void check_powers(Plot *plot)
{
    for (size_t p = 0; p < plot->count; p++) {
        size_t positive = 0, other = 0;
        for (size_t k = 0; k < plot->panels[p].count; k++) {
            const Curve *curve = &plot->panels[p].curves[k];
            for (size_t i = 0; i < curve->rows; i++) {
                positive += curve->y[i] > 0;
                other += curve->y[i] <= 0;
            }
        }
        if (other && !positive)
            tr_fail(plot->err, TR_USAGE, (Place){0},
                    "'%.60s' has no positive values, so it has no logarithmic axis",
                    plot->panels[p].curves[0].name);
    }
}

// What the picture is of: "roll, steer against t", "track of rear, front".
static const char *subject(Plot *plot, const char *x)
{
    Buffer text = {0};
    if (plot->options->track) tr_buffer_print(&text, "track of ");
    for (size_t p = 0; p < plot->count; p++)
        for (size_t k = 0; k < plot->panels[p].count; k++)
            tr_buffer_print(&text, "%s%s", p || k ? ", " : "", plot->panels[p].curves[k].name);
    if (!plot->options->track) tr_buffer_print(&text, " against %s", x);
    return keep(plot, &text);
}

static double land_height(void *land, double x, double y) { return tr_land_height(land, x, y); }

static void write_picture(Plot *plot)
{
    const tr_plot_options *o = plot->options;
    const char *x = o->track ? "x" : o->x ? o->x : "t";
    const Figure figure = {
        .title = o->title,
        .subject = subject(plot, x),
        .panels = plot->panels,
        .count = plot->count,
        .x_label = x,
        .x_unit = o->track ? "m" : unit_of(plot, x),
        .is_track = o->track,
        .relief = {plot->land ? land_height : NULL, plot->land},
        .is_log = o->log,
        .is_tight = strcmp(x, "t") == 0,
        .width = o->width,
        .height = o->height,
    };
    Buffer svg = {0};
    if (!has_failed(plot->err)) tr_figure_draw(&figure, &svg, plot->err);
    if (!has_failed(plot->err)) tr_write_text(o->output, svg.at, plot->err);
    tr_buffer_free(&svg);
}

static void check_options(const tr_plot_options *o, tr_error *err)
{
    const char *slash = o->output ? strrchr(o->output, '/') : NULL;
    const char *file = slash ? slash + 1 : o->output, *dot = file ? strrchr(file, '.') : NULL;
    const bool is_size =
        (!o->width && !o->height) || (o->width >= LEAST_WIDTH && o->width <= MOST_PIXELS &&
                                      o->height > 0 && o->height <= MOST_PIXELS);
    if (!o->runs || o->run_count == 0)
        tr_fail(err, TR_USAGE, (Place){0}, "there is no run to draw");
    else if (!o->output)
        tr_fail(err, TR_USAGE, (Place){0}, "the picture needs a file to go to");
    else if (dot && strcmp(dot, ".svg") != 0)
        tr_fail(err, TR_USAGE, (Place){0}, "pictures are SVG: '%.200s' should end in .svg",
                o->output);
    else if (o->track && (o->panel_count || o->x || o->log))
        tr_fail(err, TR_USAGE, (Place){0},
                "a track is a picture of its own: it has no other columns, and equal scales");
    else if (o->model && !o->track)
        tr_fail(err, TR_USAGE, (Place){0},
                "a model has the ground below a track, and this is none");
    else if (!is_size)
        tr_fail(err, TR_USAGE, (Place){0},
                "a picture is %d to %d pixels wide and at most %d high, not %d by %d", LEAST_WIDTH,
                MOST_PIXELS, MOST_PIXELS, o->width, o->height);
}

void tr_plot_fill(tr_plot_options *options, size_t size)
{
    const tr_plot_options plain = {.from = (double)NAN, .to = (double)NAN, .output = "-"};
    tr_give_options(options, size, &plain, sizeof plain);
}

bool tr_plot(const tr_plot_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_plot_options o = tr_plot_defaults();
    if (!tr_take_options(&o, sizeof o, options, "tr_plot_defaults", err)) return false;
    Plot plot = {.options = &o, .err = err};
    check_options(&o, err);
    if (!has_failed(err) && ends_with(o.runs[0], ".db")) return tr_plot_sweep(&o, err);
    if (!has_failed(err)) read_runs(&plot);
    if (o.track)
        fill_track(&plot);
    else
        fill_panels(&plot);
    if (o.log && !has_failed(err)) check_powers(&plot);
    if (!has_failed(err)) write_picture(&plot);
    for (size_t i = 0; i < plot.runs; i++) tr_sheet_free(plot.run[i].sheet);
    tr_land_free(plot.land);
    tr_arena_free(&plot.arena);
    return !has_failed(err);
}
