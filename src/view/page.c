// SPDX-License-Identifier: Apache-2.0
// The page is everything but the data, which stand in elements before its script:
//
//   report    JSON: the scene, the columns, the certificate, the model
//   columns   all numbers of the run, column after column, 8 bytes each, little-endian, as base64
//   frames    frames, row after row, 4 bytes each, likewise
//   rows      where not all rows have one: the numbers of those that have, 4 bytes each
//   heights   where there are terrains: their nodes, one terrain after the other, as the frames
//   meshes    where there are any: of each its points, 4 bytes a number, then its corners
//   equations where they are given: a document or words, as base64
//   sweep     of a sweep: JSON, its runs as lists of numbers (view/swept_runs.c)
//
// (where no run of a sweep was recorded, the report is of the model alone, without numbers)
// and the same, but for the last, for each further run, as report-1, columns-1 and so on.
// Whatever a name is, it cannot end its element: the JSON holds no <, > or &.
#include "view/page.h"

#include "base/base64.h"
#include "base/json.h"
#include "sim/certificate.h"
#include "view/column.h"
#include "view/terrain.h"

#include <stdlib.h>

// ---- terrains ------------------------------------------------------------------------------

#define TERRAIN_EXACT 0.001 // of its relief
#define MARGIN        1.5   // around tracks, in sizes of the model
#define LEAST_MARGIN  0.1   // likewise, in lengths of the tracks

// Where the contacts on each terrain go, as two lows and two highs of its x and y
static void find_bounds(const Report *report, Frames *frames, double *frame, double *bounds)
{
    const Scene *scene = &report->system->scene;
    for (uint32_t i = 0; i < 4 * scene->terrain_count; i++)
        bounds[i] = (double)(i % 4 < 2 ? INFINITY : -INFINITY);
    for (size_t row = 0; row < report->run->rows; row++) {
        tr_frames_get(frames, row, frame);
        for (uint32_t i = 0; i < scene->contact_count; i++) {
            if (scene->contacts[i].terrain == NO_TERRAIN) continue;
            double *own = bounds + 4 * (size_t)scene->contacts[i].terrain, at[2];
            tr_frames_touch(frames, i, at);
            for (int k = 0; k < 2 && isfinite(at[0] + at[1]); k++)
                own[k] = fmin(own[k], at[k]), own[2 + k] = fmax(own[2 + k], at[k]);
        }
    }
}

static void add_margin(double bounds[4], double size)
{
    if (!(bounds[0] <= bounds[2])) memset(bounds, 0, 4 * sizeof *bounds); // nothing ever touched
    const double longest = fmax(bounds[2] - bounds[0], bounds[3] - bounds[1]);
    const double margin = fmax(MARGIN * size, LEAST_MARGIN * longest);
    for (int k = 0; k < 2; k++) bounds[k] -= margin, bounds[2 + k] += margin;
}

static void make_maps(const Report *report, Frames *frames, HeightMap *maps, tr_error *err)
{
    const Scene *scene = &report->system->scene;
    double *bounds = calloc(4 * (size_t)scene->terrain_count + 1, sizeof *bounds);
    double *frame = calloc(tr_frames_stride(frames) + 1u, sizeof *frame);
    if (bounds && frame)
        find_bounds(report, frames, frame, bounds);
    else
        tr_fail_memory(err);
    for (uint32_t i = 0; i < scene->terrain_count && !has_failed(err); i++) {
        Height height;
        double *own = bounds + 4 * (size_t)i;
        add_margin(own, tr_frames_extent(frames));
        if (!tr_height_make(&height, report->system, i, err)) break;
        tr_height_map_make(&maps[i], &height, own, own + 2, TERRAIN_EXACT, err);
        tr_height_free(&height);
    }
    free(bounds);
    free(frame);
}

// One for each terrain, and one more; NULL after an error
static HeightMap *new_maps(const Report *report, Frames *frames, tr_error *err)
{
    if (has_failed(err)) return NULL;
    HeightMap *maps = calloc(report->system->scene.terrain_count + 1u, sizeof *maps);
    if (!maps) return tr_fail_memory(err), NULL;
    if (report->system->scene.terrain_count) make_maps(report, frames, maps, err);
    return maps;
}

static void free_maps(HeightMap *maps, const Scene *scene)
{
    for (uint32_t i = 0; maps && i < scene->terrain_count; i++) tr_height_map_free(&maps[i]);
    free(maps);
}

// What a report is written from
typedef struct Part {
    Frames *frames;
    HeightMap *maps;
    Sunk *sunk;     // by body
    uint32_t *rows; // that have frames
    size_t row_count;
    Json json;
} Part;

// ---- JSON ----------------------------------------------------------------------------------

static void describe_columns(Json *j, const Report *report)
{
    const Sheet *run = report->run;
    tr_json_open(j, "columns", '[');
    for (size_t i = 0; i < run->columns; i++) {
        const ColumnKind column = tr_column_of(report->system, run->names[i]);
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", run->names[i]);
        tr_json_text(j, "unit", column.unit);
        tr_json_text(j, "group", column.group);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void describe_drawing(Json *j, const Drawing *d)
{
    tr_json_open(j, NULL, '{');
    tr_json_text(j, "type", d->type);
    tr_json_numbers(j, "at", d->at, 3);
    tr_json_numbers(j, "axis", d->axis, 3);
    tr_json_numbers(j, "size", d->size, 3);
    tr_json_number(j, "radius", d->radius);
    tr_json_number(j, "length", d->length);
    tr_json_number(j, "tube", d->tube);
    if (strcmp(d->type, "mesh") == 0) {
        tr_json_number(j, "mesh", d->mesh);
        tr_json_number(j, "scale", d->scale);
    }
    tr_json_text(j, "colour", d->colour);
    tr_json_flag(j, "guessed", d->is_guessed);
    tr_json_flag(j, "shell", d->is_shell);
    tr_json_close(j, '}');
}

// Those of a body, or of the world
static void describe_drawings(Json *j, const Scene *scene, uint32_t body)
{
    tr_json_open(j, "shapes", '[');
    for (uint32_t k = 0; k < scene->drawing_count; k++)
        if (scene->drawings[k].body == body) describe_drawing(j, &scene->drawings[k]);
    tr_json_close(j, ']');
}

static double index_of(uint32_t body) { return body == SCENE_WORLD ? -1 : (double)body; }

static void describe_body(Json *j, const Scene *scene, uint32_t i)
{
    const SceneBody *body = &scene->bodies[i];
    tr_json_open(j, NULL, '{');
    tr_json_text(j, "name", body->name);
    tr_json_number(j, "mass", body->mass);
    tr_json_numbers(j, "com", body->com, 3);
    tr_json_number(j, "parent", index_of(body->parent));
    tr_json_flag(j, "part", body->is_part);
    tr_json_open(j, "joint", '{');
    tr_json_text(j, "type", body->joint);
    tr_json_numbers(j, "at", body->joint_at, 3);
    tr_json_numbers(j, "axis", body->axis, 3);
    tr_json_text(j, "coordinate", body->coordinate);
    tr_json_close(j, '}');
    describe_drawings(j, scene, i);
    tr_json_close(j, '}');
}

static void describe_contact(Json *j, const SceneContact *contact)
{
    tr_json_open(j, NULL, '{');
    tr_json_text(j, "name", contact->name);
    tr_json_text(j, "kind", contact->kind);
    tr_json_number(j, "body", index_of(contact->body));
    tr_json_number(j, "on", index_of(contact->on));
    tr_json_flag(j, "leaves_track", contact->leaves_track);
    tr_json_flag(j, "has_moment", contact->has_moment);
    tr_json_open(j, "rows", '[');
    for (uint32_t k = 0; k < contact->row_count; k++) tr_json_text(j, NULL, contact->rows[k].name);
    tr_json_close(j, ']');
    if (contact->is_loop) {
        tr_json_open(j, "loop", '{');
        tr_json_numbers(j, "at", contact->at, 3);
        tr_json_numbers(j, "axis", contact->axis, 3);
        tr_json_numbers(j, "to", contact->to, 3);
        tr_json_numbers(j, "guide", contact->guide, 3);
        tr_json_close(j, '}');
    }
    tr_json_close(j, '}');
}

static void describe_elements(Json *j, const Scene *scene)
{
    tr_json_open(j, "contacts", '[');
    for (uint32_t i = 0; i < scene->contact_count; i++) describe_contact(j, &scene->contacts[i]);
    tr_json_close(j, ']');
    tr_json_open(j, "beams", '[');
    for (uint32_t i = 0; i < scene->beam_count; i++) {
        const SceneBeam *beam = &scene->beams[i];
        tr_json_open(j, NULL, '{');
        tr_json_number(j, "body", beam->body);
        tr_json_number(j, "first", beam->first);
        tr_json_number(j, "count", beam->count);
        tr_json_number(j, "radius", beam->radius);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
    tr_json_open(j, "rods", '[');
    for (uint32_t i = 0; i < scene->rod_count; i++) {
        const SceneRod *rod = &scene->rods[i];
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", rod->name);
        tr_json_number(j, "body", index_of(rod->body));
        tr_json_numbers(j, "at", rod->at, 3);
        tr_json_number(j, "on", index_of(rod->on));
        tr_json_numbers(j, "to", rod->to, 3);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static bool has_terrain(const Scene *scene)
{
    for (uint32_t i = 0; i < scene->terrain_count; i++)
        if (scene->terrains[i].on == SCENE_WORLD) return true;
    return false;
}

// Bodies that are below the ground at some time: how far, and since when
static void describe_sunk(Json *j, const Report *report, const Part *part)
{
    const Scene *scene = &report->system->scene;
    const double *t = tr_sheet_column(report->run, "t");
    tr_json_open(j, "sunk", '[');
    for (uint32_t i = 0; i < scene->body_count && !has_terrain(scene); i++) {
        if (!(part->sunk[i].depth > 0)) continue;
        tr_json_open(j, NULL, '{');
        tr_json_number(j, "body", i);
        tr_json_number(j, "depth", part->sunk[i].depth);
        tr_json_number(j, "t", t[part->sunk[i].row]);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

// Where nothing says how high the ground is, it is below all that is drawn.
static void describe_ground(Json *j, const Scene *scene, Frames *frames)
{
    double at[3];
    const double *n = scene->ground_normal;
    const double height = scene->ground_is_free ? tr_frames_height(frames, scene->ground_at, n) : 0;
    for (int k = 0; k < 3; k++) at[k] = scene->ground_at[k] + height * n[k];
    tr_json_open(j, "ground", '{');
    tr_json_numbers(j, "at", at, 3);
    tr_json_numbers(j, "normal", n, 3);
    tr_json_flag(j, "shown", scene->has_ground);
    tr_json_close(j, '}');
}

static void describe_terrains(Json *j, const Scene *scene, const HeightMap *maps)
{
    tr_json_open(j, "terrains", '[');
    for (uint32_t i = 0; i < scene->terrain_count; i++) {
        const SceneTerrain *terrain = &scene->terrains[i];
        const double count[] = {maps[i].count[0], maps[i].count[1]};
        tr_json_open(j, NULL, '{');
        tr_json_number(j, "on", index_of(terrain->on));
        tr_json_numbers(j, "at", terrain->at, 3);
        tr_json_numbers(j, "rotation", terrain->rotation, 9);
        tr_json_numbers(j, "corner", maps[i].corner, 2);
        tr_json_number(j, "step", maps[i].step);
        tr_json_numbers(j, "count", count, 2);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void describe_meshes(Json *j, const Scene *scene)
{
    tr_json_open(j, "meshes", '[');
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        tr_json_open(j, NULL, '{');
        tr_json_number(j, "points", scene->meshes[i].point_count);
        tr_json_number(j, "triangles", scene->meshes[i].triangle_count);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
}

static void describe_scene(Json *j, const Report *report, const Part *part)
{
    const Scene *scene = &report->system->scene;
    Frames *frames = part->frames;
    tr_json_open(j, "scene", '{');
    tr_json_number(j, "stride", tr_frames_stride(frames));
    tr_json_number(j, "length", tr_frames_extent(frames));
    tr_json_numbers(j, "gravity", scene->gravity, 3);
    describe_ground(j, scene, frames);
    describe_sunk(j, report, part);
    describe_terrains(j, scene, part->maps);
    describe_meshes(j, scene);
    tr_json_text(j, "missing", report->system->missing ? report->system->missing : "");
    describe_drawings(j, scene, SCENE_WORLD);
    tr_json_open(j, "bodies", '[');
    for (uint32_t i = 0; i < scene->body_count; i++) describe_body(j, scene, i);
    tr_json_close(j, ']');
    describe_elements(j, scene);
    tr_json_close(j, '}');
}

static void describe_model(Json *j, const System *system)
{
    const struct Source *source = &system->source;
    const char *file = source->file ? source->file : "", *slash = strrchr(file, '/');
    tr_json_open(j, "parameters", '[');
    for (uint32_t i = 0; i < system->input_count; i++) {
        const Input *input = &system->inputs[i];
        if (!is_setting(input) || input->follows.id) continue; // it is no one number
        tr_json_open(j, NULL, '{');
        tr_json_text(j, "name", input->name);
        tr_json_number(j, "value", input->value);
        if (input->port.unit[0]) tr_json_text(j, "unit", input->port.unit);
        if (input->port.doc[0]) tr_json_text(j, "doc", input->port.doc);
        tr_json_close(j, '}');
    }
    tr_json_close(j, ']');
    tr_json_open(j, "model", '{');
    tr_json_text(j, "file", slash ? slash + 1 : file);
    tr_json_text(j, "sha256", source->sha256);
    tr_json_text(j, "text", source->text ? source->text : "");
    tr_json_close(j, '}');
    tr_describe_case(j, system);
}

static void describe(Part *part, const Report *report)
{
    Json *j = &part->json;
    const System *system = report->system;
    const Text none = text_of("null");
    const char *title = system->title && system->title[0] ? system->title : system->source.file;
    tr_json_open(j, NULL, '{');
    tr_json_text(j, "title", title ? title : "");
    tr_json_text(j, "label", report->label ? report->label : "");
    tr_json_text(j, "program", "trundle " TR_VERSION);
    if (report->run) {
        tr_json_number(j, "rows", (double)report->run->rows);
        tr_json_number(j, "frames", (double)part->row_count);
        describe_columns(j, report);
        describe_scene(j, report, part);
        tr_json_raw(j, "certificate", report->certificate.length ? report->certificate : none);
    }
    describe_model(j, system);
    tr_json_close(j, '}');
}

// Outside its strings JSON has none of these letters. A byte that is no UTF-8 is U+FFFD.
static void write_escaped(const Buffer *json, FILE *to)
{
    for (size_t i = 0; i < json->length;) {
        const char c = json->at[i];
        const size_t bytes = tr_utf8_length(json->at + i, json->length - i);
        if (!bytes)
            fputs("\\ufffd", to);
        else if (c == '<' || c == '>' || c == '&')
            fprintf(to, "\\u%04x", (unsigned)c);
        else
            fwrite(json->at + i, 1, bytes, to);
        i += bytes ? bytes : 1;
    }
}

// ---- numbers -------------------------------------------------------------------------------

static void little_endian(uint64_t bits, unsigned char *out, int bytes)
{
    for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(bits >> 8 * i);
}

static void write_columns(const Sheet *run, FILE *to)
{
    Base64 text = {.to = to};
    for (size_t i = 0; i < run->rows * run->columns; i++) {
        uint64_t bits;
        unsigned char bytes[sizeof bits];
        memcpy(&bits, &run->values[i], sizeof bits);
        little_endian(bits, bytes, sizeof bytes);
        tr_base64_add(&text, bytes, sizeof bytes);
    }
    tr_base64_end(&text);
}

// A quaternion and its negative are the same rotation: neighbours are the near ones.
static void keep_near(double *frame, const double *last, uint32_t bodies)
{
    for (uint32_t i = 0; i < bodies; i++) {
        double *q = frame + (size_t)BODY_NUMBERS * i + 3;
        const double *p = last + (size_t)BODY_NUMBERS * i + 3;
        const double along = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
        for (int k = 0; k < 4 && along < 0; k++) q[k] = -q[k];
    }
}

static void add_float(Base64 *text, double value)
{
    const float number = (float)value;
    uint32_t bits;
    unsigned char bytes[sizeof bits];
    memcpy(&bits, &number, sizeof bits);
    little_endian(bits, bytes, sizeof bytes);
    tr_base64_add(text, bytes, sizeof bytes);
}

static void add_whole(Base64 *text, uint32_t value)
{
    unsigned char bytes[sizeof value];
    little_endian(value, bytes, sizeof bytes);
    tr_base64_add(text, bytes, sizeof bytes);
}

static void write_heights(const Scene *scene, const HeightMap *maps, FILE *to)
{
    Base64 text = {.to = to};
    for (uint32_t i = 0; i < scene->terrain_count; i++)
        for (size_t k = 0; k < (size_t)maps[i].count[0] * maps[i].count[1]; k++)
            add_float(&text, maps[i].heights[k]);
    tr_base64_end(&text);
}

static void write_meshes(const Scene *scene, FILE *to)
{
    Base64 text = {.to = to};
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        const SceneMesh *mesh = &scene->meshes[i];
        for (size_t k = 0; k < 3 * (size_t)mesh->point_count; k++)
            add_float(&text, (double)mesh->points[k]);
        for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k++)
            add_whole(&text, mesh->corners[k]);
    }
    tr_base64_end(&text);
}

static void write_text(const char *words, FILE *to)
{
    Base64 text = {.to = to};
    tr_base64_add(&text, words, strlen(words));
    tr_base64_end(&text);
}

static void write_rows(const Part *part, FILE *to)
{
    Base64 text = {.to = to};
    for (size_t i = 0; i < part->row_count; i++) add_whole(&text, part->rows[i]);
    tr_base64_end(&text);
}

static void write_frames(const Part *part, uint32_t bodies, FILE *to, tr_error *err)
{
    const uint32_t stride = tr_frames_stride(part->frames);
    double *frame = calloc(2 * (size_t)stride + 1, sizeof *frame);
    if (!frame) {
        tr_fail_memory(err);
        return;
    }
    Base64 text = {.to = to};
    for (size_t i = 0; i < part->row_count; i++) {
        tr_frames_get(part->frames, part->rows[i], frame);
        if (i) keep_near(frame, frame + stride, bodies);
        memcpy(frame + stride, frame, stride * sizeof *frame);
        for (uint32_t k = 0; k < stride; k++) add_float(&text, frame[k]);
    }
    tr_base64_end(&text);
    free(frame);
}

// ---- all of it -----------------------------------------------------------------------------

static const char *find_mark(Text page)
{
    const size_t length = strlen(TR_PAGE_MARK);
    for (size_t i = 0; i + length <= page.length; i++)
        if (memcmp(page.at + i, TR_PAGE_MARK, length) == 0) return page.at + i;
    return NULL;
}

static void prepare_run(Part *part, const Report *report, tr_error *err)
{
    const Sheet *run = report->run;
    if (!run->rows || strcmp(run->names[0], "t") != 0)
        tr_fail(err, TR_INVALID, (Place){0},
                run->rows ? "the first column of a run is 't'" : "the run has no rows");
    part->frames = tr_frames_new(report->system, run, err);
    part->maps = new_maps(report, part->frames, err);
    if (!part->frames || has_failed(err)) return;
    part->rows = tr_frames_sampled(part->frames, run->rows, &part->row_count, err);
    part->sunk = calloc(report->system->scene.body_count + 1u, sizeof *part->sunk);
    if (!part->sunk) tr_fail_memory(err);
    if (has_failed(err)) return;
    tr_frames_sunk(part->frames, run->rows, part->sunk);
}

static void prepare(Part *part, const Report *report, tr_error *err)
{
    if (report->run) prepare_run(part, report, err);
    if (has_failed(err)) return;
    describe(part, report);
    if (part->json.text.failed) tr_fail_memory(err);
}

static void free_parts(Part *parts, const Report *reports, size_t count)
{
    for (size_t i = 0; parts && i < count; i++) {
        tr_buffer_free(&parts[i].json.text);
        free_maps(parts[i].maps, &reports[i].system->scene);
        tr_frames_free(parts[i].frames);
        free(parts[i].rows);
        free(parts[i].sunk);
    }
    free(parts);
}

static void open_element(const char *id, size_t which, FILE *to)
{
    const bool is_json = strcmp(id, "report") == 0 || strcmp(id, "sweep") == 0;
    fprintf(to, "%s<script type=\"application/%s\" id=\"%s", is_json && !which ? "" : "\n",
            is_json ? "json" : "octet-stream", id);
    if (which) fprintf(to, "-%zu", which);
    fputs("\">", to);
}

static void close_element(FILE *to) { fputs("</script>", to); }

static void write_run(const Part *part, const Report *report, size_t which, FILE *to, tr_error *err)
{
    const Scene *scene = &report->system->scene;
    open_element("columns", which, to);
    write_columns(report->run, to);
    close_element(to);
    open_element("frames", which, to);
    write_frames(part, scene->body_count, to, err);
    close_element(to);
    if (part->row_count < report->run->rows) {
        open_element("rows", which, to);
        write_rows(part, to);
        close_element(to);
    }
    if (scene->terrain_count) {
        open_element("heights", which, to);
        write_heights(scene, part->maps, to);
        close_element(to);
    }
    if (scene->mesh_count) {
        open_element("meshes", which, to);
        write_meshes(scene, to);
        close_element(to);
    }
}

static void write_part(const Part *part, const Report *report, size_t which, FILE *to,
                       tr_error *err)
{
    open_element("report", which, to);
    write_escaped(&part->json.text, to);
    close_element(to);
    if (report->run) write_run(part, report, which, to, err);
    if (report->equations) {
        open_element("equations", which, to);
        write_text(report->equations, to);
        close_element(to);
    }
}

bool tr_page_write(Text page, const Report *reports, size_t count, const Buffer *sweep, FILE *to,
                   tr_error *err)
{
    const char *mark = find_mark(page);
    if (!mark) tr_fail(err, TR_INVALID, (Place){0}, "the page has no mark " TR_PAGE_MARK);
    Part *parts = calloc(count + 1, sizeof *parts);
    if (!parts) tr_fail_memory(err);
    for (size_t i = 0; parts && i < count && !has_failed(err); i++) {
        tr_error why = {0};
        prepare(&parts[i], &reports[i], &why);
        if (why.status && count > 1)
            tr_fail(err, why.status, (Place){0}, "%s: %s", reports[i].label, why.text);
        else if (why.status)
            tr_fail_again(err, &why, "%s", why.text);
    }
    if (!has_failed(err)) {
        const char *rest = mark + strlen(TR_PAGE_MARK);
        fwrite(page.at, 1, (size_t)(mark - page.at), to);
        for (size_t i = 0; i < count; i++) write_part(&parts[i], &reports[i], i, to, err);
        if (sweep && sweep->length) {
            open_element("sweep", 0, to);
            write_escaped(sweep, to);
            close_element(to);
        }
        fwrite(rest, 1, (size_t)(page.at + page.length - rest), to);
    }
    free_parts(parts, reports, count);
    return !has_failed(err);
}
