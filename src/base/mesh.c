// SPDX-License-Identifier: Apache-2.0
#include "base/mesh.h"

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    const char *at, *end;
    int line;
    bool is_obj; // where # begins a comment, and a backslash carries a line on
    Mesh *mesh;
    size_t point_room, triangle_room;
    tr_error *err;
} Reader;

static bool refuse(const Reader *r, const char *words)
{
    tr_fail(r->err, TR_INVALID, place_at(r->line, r->line ? 1 : 0), "%s", words);
    return false;
}

// ---- what is gathered ----------------------------------------------------------------------

// Room for one more of `size` bytes
static void *grow(Reader *r, void *list, size_t count, size_t *room, size_t size)
{
    if (count < *room) return list;
    const size_t more = 2 * *room + 64;
    void *grown = realloc(list, more * size);
    if (!grown) return tr_fail_memory(r->err), NULL;
    *room = more;
    return grown;
}

static bool add_point(Reader *r, const double x[3])
{
    Mesh *m = r->mesh;
    if (m->point_count == 3u * MESH_MOST) return refuse(r, "it has more points than can be drawn");
    float *grown = grow(r, m->points, m->point_count, &r->point_room, 3 * sizeof *grown);
    if (!grown) return false;
    m->points = grown;
    for (int k = 0; k < 3; k++) {
        const float value = (float)x[k];
        if (!isfinite(value)) return refuse(r, "a point is not finite");
        grown[3 * (size_t)m->point_count + (size_t)k] = value;
    }
    m->point_count++;
    return true;
}

static bool add_triangle(Reader *r, uint32_t a, uint32_t b, uint32_t c)
{
    Mesh *m = r->mesh;
    if (m->triangle_count == MESH_MOST)
        return refuse(r, "it has more than 4,000,000 triangles: thin it before");
    uint32_t *grown = grow(r, m->corners, m->triangle_count, &r->triangle_room, 3 * sizeof *grown);
    if (!grown) return false;
    m->corners = grown;
    uint32_t *corners = grown + 3 * (size_t)m->triangle_count++;
    corners[0] = a, corners[1] = b, corners[2] = c;
    return true;
}

static bool add_last_three(Reader *r)
{
    const uint32_t count = r->mesh->point_count;
    return add_triangle(r, count - 3, count - 2, count - 1);
}

// ---- words of a line -----------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
static bool is_end(char c) { return c == '\n' || c == '\r'; }

// Cuts the next line off; false when there is none.
static bool next_line(Reader *r, Text *line)
{
    if (r->at == r->end) return false;
    const char *from = r->at;
    while (r->at < r->end && !is_end(*r->at)) r->at++;
    *line = (Text){from, (size_t)(r->at - from)};
    if (r->end - r->at >= 2 && r->at[0] == '\r' && r->at[1] == '\n') r->at++;
    if (r->at < r->end) r->at++;
    r->line++;
    return true;
}

static Text cut_word(Text *line)
{
    size_t from = 0, to;
    while (from < line->length && is_blank(line->at[from])) from++;
    for (to = from; to < line->length && !is_blank(line->at[to]);) to++;
    const Text word = {line->at + from, to - from};
    *line = (Text){line->at + to, line->length - to};
    return word;
}

static bool carries_on(Text word, const Text *rest)
{
    return word.length && word.at[word.length - 1] == '\\' && !rest->length;
}

static Text next_word(Reader *r, Text *line)
{
    Text word = cut_word(line);
    while (r->is_obj && carries_on(word, line)) {
        word.length--;
        if (!next_line(r, line) || word.length) return word;
        word = cut_word(line);
    }
    if (r->is_obj && word.length && word.at[0] == '#') word.length = line->length = 0;
    return word;
}

// Large and small letters are the same.
static bool word_is(Text word, const char *wanted)
{
    if (word.length != strlen(wanted)) return false;
    for (size_t i = 0; i < word.length; i++) {
        const char c = word.at[i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != wanted[i]) return false;
    }
    return true;
}

static bool read_number(Text word, double *value)
{
    const bool has_sign = word.length && (word.at[0] == '-' || word.at[0] == '+');
    const size_t from = has_sign ? 1 : 0;
    size_t used;
    if (!tr_number_read(word.at + from, word.length - from, &used, value)) return false;
    if (has_sign && word.at[0] == '-') *value = -*value;
    return used == word.length - from;
}

static bool read_point(Reader *r, Text *line)
{
    double x[3];
    for (int k = 0; k < 3; k++)
        if (!read_number(next_word(r, line), &x[k])) return refuse(r, "a point is three numbers");
    return add_point(r, x);
}

// ---- .stl ----------------------------------------------------------------------------------

enum { HEAD = 80, FACET = 50 }; // bytes in front of the count, and of a triangle

static uint32_t little_endian(const char *bytes)
{
    uint32_t value = 0;
    for (unsigned k = 0; k < 4; k++) value |= (uint32_t)(unsigned char)bytes[k] << 8 * k;
    return value;
}

static bool read_binary(Reader *r, const char *text, uint32_t count)
{
    const char *at = text + HEAD + 4;
    for (uint32_t i = 0; i < count; i++, at += FACET) { // a normal, three points, two bytes
        for (size_t corner = 1; corner <= 3; corner++) {
            double x[3];
            for (size_t k = 0; k < 3; k++) {
                const uint32_t bits = little_endian(at + 4 * (3 * corner + k));
                float value;
                memcpy(&value, &bits, sizeof value);
                x[k] = (double)value;
            }
            if (!add_point(r, x)) return false;
        }
        if (!add_last_three(r)) return false;
    }
    return true;
}

// A line of text; `points` are those of the triangle so far.
static bool read_stl_line(Reader *r, Text line, int *points)
{
    const Text word = next_word(r, &line);
    if (!word.length || word_is(word, "solid") || word_is(word, "facet") ||
        word_is(word, "endfacet") || word_is(word, "endsolid"))
        return true;
    if (word_is(word, "outer")) return *points = 0, true;
    if (word_is(word, "vertex")) return ++*points, read_point(r, &line);
    if (!word_is(word, "endloop")) return refuse(r, "this is no line of an .stl file");
    if (*points != 3) return refuse(r, "a triangle has three points");
    *points = 0;
    return add_last_three(r);
}

static bool read_stl_text(Reader *r)
{
    int points = 0;
    for (Text line; next_line(r, &line);)
        if (!read_stl_line(r, line, &points)) return false;
    return points == 0 || refuse(r, "the last triangle does not end");
}

static bool begins_with_solid(const char *text, size_t length)
{
    size_t from = 0, to;
    while (from < length && (is_blank(text[from]) || is_end(text[from]))) from++;
    for (to = from; to < length && !is_blank(text[to]) && !is_end(text[to]);) to++;
    return word_is((Text){text + from, to - from}, "solid");
}

// Some that are binary begin with "solid", too: their count fits, and that of four letters does
// not.
static bool read_stl(Reader *r, const char *text, size_t length)
{
    const size_t rest = length > HEAD + 4 ? length - HEAD - 4 : 0;
    const uint32_t count = rest ? little_endian(text + HEAD) : 0;
    const bool begins = begins_with_solid(text, length);
    if (count && count <= rest / FACET) return read_binary(r, text, count);
    if (begins || length <= HEAD + 4) return read_stl_text(r);
    return refuse(r, "is cut short: it is to have more triangles than there is room for");
}

// ---- .obj ----------------------------------------------------------------------------------

// "7", "7/1/2", "-1": counted from 1, or back from the last point so far
static bool read_corner(Reader *r, Text word, uint32_t *corner)
{
    const char *slash = word.length ? memchr(word.at, '/', word.length) : NULL;
    double number;
    if (slash) word.length = (size_t)(slash - word.at);
    if (!read_number(word, &number)) return refuse(r, "a face is made of numbers of points");
    const double count = r->mesh->point_count, index = number < 0 ? count + number : number - 1;
    if (!(index >= 0 && index < count) || index != floor(index))
        return refuse(r, "a face has a point that is not there so far");
    *corner = (uint32_t)index;
    return true;
}

static bool read_face(Reader *r, Text line)
{
    uint32_t first = 0, last = 0, corner, count = 0;
    for (Text word; (word = next_word(r, &line)).length; count++, last = corner) {
        if (!read_corner(r, word, &corner)) return false;
        if (count == 0) first = corner;
        if (count >= 2 && !add_triangle(r, first, last, corner)) return false;
    }
    return count >= 3 || refuse(r, "a face has three corners or more");
}

static bool read_obj(Reader *r)
{
    for (Text line; next_line(r, &line);) {
        const Text word = next_word(r, &line);
        if (word_is(word, "v") && !read_point(r, &line)) return false;
        if (word_is(word, "f") && !read_face(r, line)) return false;
    }
    return true;
}

// ---- all of a file -------------------------------------------------------------------------

static bool finish(Reader *r, bool is_read)
{
    r->line = 0;
    if (is_read && !r->mesh->triangle_count) is_read = refuse(r, "has no triangles");
    if (!is_read) tr_mesh_free(r->mesh);
    return is_read;
}

bool tr_mesh_stl(const char *text, size_t length, Mesh *mesh, tr_error *err)
{
    *mesh = (Mesh){0};
    if (has_failed(err)) return false;
    Reader r = {.at = text, .end = text + length, .mesh = mesh, .err = err};
    return finish(&r, read_stl(&r, text, length));
}

bool tr_mesh_obj(const char *text, size_t length, Mesh *mesh, tr_error *err)
{
    *mesh = (Mesh){0};
    if (has_failed(err)) return false;
    Reader r = {.at = text, .end = text + length, .is_obj = true, .mesh = mesh, .err = err};
    return finish(&r, read_obj(&r));
}

void tr_mesh_free(Mesh *mesh)
{
    free(mesh->points);
    free(mesh->corners);
    *mesh = (Mesh){0};
}

void tr_mesh_box(const Mesh *mesh, double low[3], double high[3])
{
    for (int k = 0; k < 3; k++) low[k] = (double)INFINITY, high[k] = -(double)INFINITY;
    for (size_t i = 0; i < 3 * (size_t)mesh->point_count; i++) {
        low[i % 3] = fmin(low[i % 3], (double)mesh->points[i]);
        high[i % 3] = fmax(high[i % 3], (double)mesh->points[i]);
    }
}

// ---- fewer triangles -----------------------------------------------------------------------

#define FINEST 1048576.0 // cells along the longest edge: points in one are at one place
#define COARSE 512.0

// Cells that have points, by a table with open addresses
typedef struct Cells {
    uint64_t *keys; // plus one; 0 is free
    uint32_t *numbers;
    size_t room; // a power of two
} Cells;

static uint32_t number_in(Cells *c, uint64_t key, uint32_t next)
{
    size_t at = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (c->room - 1);
    while (c->keys[at] && c->keys[at] != key + 1) at = (at + 1) & (c->room - 1);
    if (!c->keys[at]) c->keys[at] = key + 1, c->numbers[at] = next;
    return c->numbers[at];
}

// Cells stand about the ends and middles of the box, where many points are.
static uint64_t cell_of(const float *point, const double low[3], double edge, double cells)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        const double at = edge > 0 ? floor(((double)point[k] - low[k]) / edge + 0.5) : 0;
        key = key << 21 | (uint64_t)fmin(fmax(at, 0), cells);
    }
    return key;
}

// Each point becomes the mean of those in its cell.
static void join_points(Mesh *m, Cells *c, double cells, uint32_t *number, double *sum)
{
    double low[3], high[3];
    tr_mesh_box(m, low, high);
    const double edge = fmax(fmax(high[0] - low[0], high[1] - low[1]), high[2] - low[2]) / cells;
    uint32_t count = 0;
    for (size_t i = 0; i < m->point_count; i++) {
        number[i] = number_in(c, cell_of(m->points + 3 * i, low, edge, cells), count);
        double *own = sum + 4 * (size_t)number[i];
        if (number[i] == count) count++;
        for (size_t k = 0; k < 3; k++) own[k] += (double)m->points[3 * i + k];
        own[3]++;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < 3; k++)
            m->points[3 * i + k] = (float)(sum[4 * i + k] / sum[4 * i + 3]);
    m->point_count = count;
}

static int compare_triangles(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k]) return p[k] < q[k] ? -1 : 1;
    return 0;
}

// With the new numbers of points, its least one first; lines, and what is there already, go.
static void join_triangles(Mesh *m, const uint32_t *number)
{
    uint32_t *all = m->corners, count = 0;
    for (size_t i = 0; i < m->triangle_count; i++) {
        const uint32_t p[] = {number[all[3 * i]], number[all[3 * i + 1]], number[all[3 * i + 2]]};
        if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) continue;
        const int first = p[1] < p[0] && p[1] < p[2] ? 1 : p[2] < p[0] && p[2] < p[1] ? 2 : 0;
        for (int k = 0; k < 3; k++) all[3 * (size_t)count + (size_t)k] = p[(first + k) % 3];
        count++;
    }
    qsort(all, count, 3 * sizeof *all, compare_triangles);
    m->triangle_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *last = all + 3 * (size_t)m->triangle_count;
        if (m->triangle_count && compare_triangles(last - 3, all + 3 * i) == 0) continue;
        memmove(last, all + 3 * i, 3 * sizeof *all);
        m->triangle_count++;
    }
}

static bool join(Mesh *m, double cells, tr_error *err)
{
    Cells c = {.room = 64};
    while (c.room < 2 * (size_t)m->point_count) c.room *= 2;
    c.keys = calloc(c.room, sizeof *c.keys);
    c.numbers = calloc(c.room, sizeof *c.numbers);
    uint32_t *number = calloc(m->point_count + 1u, sizeof *number);
    double *sum = calloc(m->point_count + 1u, 4 * sizeof *sum);
    const bool has_room = c.keys && c.numbers && number && sum;
    if (has_room) {
        join_points(m, &c, cells, number, sum);
        join_triangles(m, number);
    } else {
        tr_fail_memory(err);
    }
    free(c.keys);
    free(c.numbers);
    free(number);
    free(sum);
    return has_room;
}

// Triangles of a surface go with the square of the cells along an edge. With one edge there are 8
// points, and fewer triangles than are allowed at least.
bool tr_mesh_thin(Mesh *mesh, uint32_t most, tr_error *err)
{
    if (has_failed(err) || !join(mesh, FINEST, err)) return false;
    for (double cells = COARSE; mesh->triangle_count > most && cells >= 1;) {
        if (!join(mesh, floor(cells), err)) return false;
        const double share = sqrt((double)most / fmax(mesh->triangle_count, 1));
        cells *= fmin(0.9, fmax(share, 0.5));
    }
    if (!mesh->triangle_count)
        tr_fail(err, TR_INVALID, (Place){0}, "has no triangle that is more than a line");
    return !has_failed(err);
}
