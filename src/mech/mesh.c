// SPDX-License-Identifier: Apache-2.0
// Shapes from files of triangles, in the axes of their bodies (T5). Pictures need no more than so
// many; what cannot be read is told, and drawn as a box, for nothing of it moves.
#include "base/mesh.h"

#include "mech/tree.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_TRIANGLES = 20000, // of one mesh,
    ALL_TRIANGLES = 100000, // of all in a model,
    LEAST_TRIANGLES = 500,  // and what each has in any case
};

uint32_t tr_tree_mesh(const Tree *tree, const Shape *shape)
{
    const Scene *s = &tree->system->scene;
    for (uint32_t i = 0; i < s->mesh_count; i++)
        if (text_is(shape->file.text, s->meshes[i].file)) return i;
    return NO_MESH;
}

// ---- one file ------------------------------------------------------------------------------

typedef bool Read(const char *text, size_t length, Mesh *mesh, tr_error *err);

// Which reader a name asks for, whatever its case
static Read *reader_of(Text name)
{
    char ending[5] = "";
    const size_t length = name.length < 4 ? 0 : 4;
    for (size_t i = 0; i < length; i++) {
        const char c = name.at[name.length - length + i];
        ending[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return strcmp(ending, ".stl") == 0   ? tr_mesh_stl
           : strcmp(ending, ".obj") == 0 ? tr_mesh_obj
                                         : NULL;
}

// Into the arena, about the middle of its box
static void keep(Tree *tree, Value file, const Mesh *mesh)
{
    Scene *s = &tree->system->scene;
    SceneMesh *kept = &s->meshes[s->mesh_count];
    const size_t points = 3 * (size_t)mesh->point_count;
    const size_t corners = 3 * (size_t)mesh->triangle_count;
    float *moved = tr_tree_room(tree, points, sizeof *moved);
    uint32_t *own = tr_tree_room(tree, corners, sizeof *own);
    if (!moved || !own) return;
    double low[3], high[3];
    tr_mesh_box(mesh, low, high);
    *kept = (SceneMesh){tr_tree_text(tree, file.text), moved, own, mesh->point_count,
                        mesh->triangle_count,          {0},   {0}};
    for (int k = 0; k < 3; k++) {
        kept->middle[k] = (low[k] + high[k]) / 2;
        kept->size[k] = high[k] - low[k];
    }
    for (size_t i = 0; i < points; i++)
        moved[i] = (float)((double)mesh->points[i] - kept->middle[i % 3]);
    memcpy(own, mesh->corners, corners * sizeof *own);
    s->mesh_count++;
}

// `why`: what is wrong in a file that is there, else empty
static void tell_missing(Tree *tree, Value file, const tr_error *why)
{
    char list[240], name[100], words[sizeof why->text + 24];
    const char *before = tree->system->missing;
    snprintf(list, sizeof list, "%s", before ? before : "");
    snprintf(name, sizeof name, "%.*s", TEXT(file.text));
    tr_list_name(list, sizeof list, name);
    if (why->line)
        snprintf(words, sizeof words, " (line %d: %s)", why->line, why->text);
    else
        snprintf(words, sizeof words, " (%s)", why->text);
    const size_t length = strlen(list);
    const size_t more = strlen(words);
    const bool has_room = length + more + sizeof ", ..." <= sizeof list;
    if (why->status && has_room) memcpy(list + length, words, more + 1);
    tree->system->missing = tr_tree_text(tree, text_of(list));
}

static void read_mesh(Tree *tree, Value file, uint32_t most)
{
    Read *read = reader_of(file.text);
    if (!read) {
        tr_fail(tree->err, TR_INVALID, file.place, "'%.*s' is neither an .stl nor an .obj file",
                TEXT(file.text));
        return;
    }
    size_t length = 0;
    tr_error why = {0};
    Mesh mesh = {0};
    char *text = tr_tree_try_file(tree, file, &length, &why);
    if (!text && why.status == TR_IO) {
        tell_missing(tree, file, &(tr_error){0});
    } else if (!text) {
        tr_fail(tree->err, why.status, file.place, "%s", why.text);
    } else if (read(text, length, &mesh, &why) && tr_mesh_thin(&mesh, most, &why)) {
        keep(tree, file, &mesh);
    } else if (why.status == TR_INVALID) {
        tell_missing(tree, file, &why);
    } else {
        tr_tree_refuse_file(tree, file, &why);
    }
    tr_mesh_free(&mesh);
    free(text);
}

// ---- all of them ---------------------------------------------------------------------------

static bool is_mesh(const Shape *shape) { return text_is(shape->type.text, "mesh"); }

static uint32_t count_meshes(const Tree *tree)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Shapes *shapes = &tree->links[i].body->shapes;
        for (uint32_t k = 0; k < shapes->count; k++) count += is_mesh(&shapes->at[k]);
    }
    return count;
}

static bool is_known_missing(const Tree *tree, Text name)
{
    char quoted[110];
    snprintf(quoted, sizeof quoted, "'%.*s'", TEXT(name));
    return tree->system->missing && strstr(tree->system->missing, quoted);
}

static void check_mesh(Tree *tree, const Shape *shape, uint32_t most)
{
    if (!is_mesh(shape) && shape->file.given)
        tr_fail(tree->err, TR_INVALID, shape->file.place,
                "only a shape of type mesh has a file, not a %.*s", TEXT(shape->type.text));
    if (!is_mesh(shape) || has_failed(tree->err)) return;
    if (!shape->file.given)
        tr_fail(tree->err, TR_INVALID, shape->name.place,
                "the mesh '%.*s' needs a 'file', .stl or .obj", TEXT(shape->name.text));
    else if (tr_tree_mesh(tree, shape) == NO_MESH && !is_known_missing(tree, shape->file.text))
        read_mesh(tree, shape->file, most);
}

void tr_tree_meshes(Tree *tree)
{
    Scene *s = &tree->system->scene;
    const uint32_t count = count_meshes(tree);
    const uint32_t share = ALL_TRIANGLES / (count ? count : 1);
    const uint32_t most = share > MOST_TRIANGLES    ? MOST_TRIANGLES
                          : share < LEAST_TRIANGLES ? LEAST_TRIANGLES
                                                    : share;
    s->meshes = tr_tree_room(tree, count + 1u, sizeof *s->meshes);
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Shapes *shapes = &tree->links[i].body->shapes;
        for (uint32_t k = 0; k < shapes->count && !has_failed(tree->err) && !tree->graph->failed;
             k++)
            check_mesh(tree, &shapes->at[k], most);
    }
}
