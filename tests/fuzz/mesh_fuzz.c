// SPDX-License-Identifier: Apache-2.0
// Triangles from arbitrary bytes. A wrong file must say what is wrong and where; of one that is
// read all corners are points, all points are finite, and thinning leaves it so.
#include "base/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 8192, FEW = 200 }; // [bytes] of input, triangles that are left

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what, const char *about)
{
    if (holds) return;
    fprintf(stderr, "violated: %s\nabout: %s\n", what, about);
    abort();
}

static void check_mesh(const Mesh *mesh)
{
    require(mesh->triangle_count > 0, "there are triangles", "");
    for (size_t i = 0; i < 3 * (size_t)mesh->point_count; i++)
        require(isfinite(mesh->points[i]), "points are finite", "");
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
        require(mesh->corners[i] < mesh->point_count, "corners are points", "");
}

static void check_reader(const char *text, size_t size,
                         bool (*read)(const char *, size_t, Mesh *, tr_error *))
{
    Mesh mesh;
    tr_error err = {0};
    int lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n' || text[i] == '\r';
    if (!read(text, size, &mesh, &err)) {
        require(err.status == TR_INVALID && err.text[0], "the user's fault, in words", err.text);
        require(err.line >= 0 && err.line <= lines, "the line is in the file", err.text);
        return;
    }
    check_mesh(&mesh);
    if (tr_mesh_thin(&mesh, FEW, &err)) {
        check_mesh(&mesh);
        require(mesh.triangle_count <= FEW, "there are no more than allowed", "");
    } else {
        require(err.status == TR_INVALID, "lines alone", err.text);
    }
    tr_mesh_free(&mesh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST) return 0;
    char *exact = malloc(size ? size : 1);
    if (!exact) return 0;
    memcpy(exact, data, size);
    check_reader(exact, size, tr_mesh_stl);
    check_reader(exact, size, tr_mesh_obj);
    free(exact);
    return 0;
}
