// SPDX-License-Identifier: Apache-2.0
// Triangles from files of others, .stl and .obj, and fewer of them where a picture needs no more.
#ifndef TR_BASE_MESH_H
#define TR_BASE_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <trundle/trundle.h>

typedef struct Mesh {
    float *points; // x y z of each
    uint32_t point_count;
    uint32_t *corners; // three points of each triangle
    uint32_t triangle_count;
} Mesh;

enum { MESH_MOST = 4000000 }; // triangles, and points, of a file

// False, with the line in the error where it is a text, when it is anything else; errors say
// nothing of what is in it. Binary or text:
bool tr_mesh_stl(const char *text, size_t length, Mesh *mesh, tr_error *err);
// Points and faces; faces of more than three corners are cut into triangles.
bool tr_mesh_obj(const char *text, size_t length, Mesh *mesh, tr_error *err);
void tr_mesh_free(Mesh *mesh);

// Joins points that are at one place, and then those that are in one cell of a grid, as coarse as
// it has to be for so many triangles, 200 or more. Triangles that become lines are left out.
bool tr_mesh_thin(Mesh *mesh, uint32_t most, tr_error *err);

// The box around all points
void tr_mesh_box(const Mesh *mesh, double low[3], double high[3]);

#endif
