// SPDX-License-Identifier: Apache-2.0
#include "view/land.h"

#include "base/error.h"
#include "sim/certificate.h"
#include "view/terrain.h"

#include <stdlib.h>

struct Land {
    double at[3], rotation[9]; // of its axes in the world
    Height height;
};

// ---- the model -----------------------------------------------------------------------------

// As it was for the run; NULL where that cannot be had
static tr_system *derive_again(const char *run, const char *path, tr_error *err)
{
    tr_origin *origin = tr_origin_read(run, err);
    tr_derive_options options = tr_derive_defaults();
    tr_origin_options(origin, &options);
    tr_model *model = tr_model_read(path, err);
    tr_system *system = tr_derive(model, &options, err);
    tr_model_free(model);
    tr_origin_free(origin);
    return system;
}

// Of a file that may be missing, or another by now: then it is nobody's fault
static tr_system *system_at(const char *run, const Buffer *path, const char *sha256, tr_error *err)
{
    tr_error own = {0};
    if (path->failed) tr_fail_memory(err);
    tr_system *system = path->failed ? NULL : derive_again(run, path->at, &own);
    if (own.status == TR_NO_MEMORY) *err = own;
    if (!system || strcmp(system->source.sha256, sha256) == 0) return system;
    tr_system_free(system);
    return NULL;
}

static tr_system *find_system(const char *run, const char *file, const char *sha256, tr_error *err)
{
    tr_system *system = NULL;
    for (int k = 0; k < 2 && !system && !has_failed(err); k++) {
        Buffer path = {0};
        if (tr_certificate_model(run, file, k, &path)) system = system_at(run, &path, sha256, err);
        tr_buffer_free(&path);
    }
    return system;
}

// ---- the ground ----------------------------------------------------------------------------

static uint32_t ground_of(const Scene *scene)
{
    uint32_t i = 0;
    while (i < scene->terrain_count && scene->terrains[i].on != SCENE_WORLD) i++;
    return i;
}

static void place(Land *land, const SceneTerrain *terrain)
{
    memcpy(land->at, terrain->at, sizeof land->at);
    memcpy(land->rotation, terrain->rotation, sizeof land->rotation);
}

// The ground of a system, which is freed
static Land *new_land(tr_system *system, tr_error *err)
{
    const uint32_t ground = system ? ground_of(&system->scene) : 0;
    Land *land = NULL;
    if (system && ground < system->scene.terrain_count) {
        land = calloc(1, sizeof *land);
        if (!land) tr_fail_memory(err);
        if (land) place(land, &system->scene.terrains[ground]);
        if (land && !tr_height_make(&land->height, system, ground, err)) free(land), land = NULL;
    }
    tr_system_free(system);
    return land;
}

Land *tr_land_of(const char *run, const char *model_file, const char *model_sha256, tr_error *err)
{
    return new_land(find_system(run, model_file, model_sha256, err), err);
}

Land *tr_land_read(const char *run, const char *model, const char *model_sha256, bool *has_changed,
                   tr_error *err)
{
    tr_error own = {0};
    tr_system *system = derive_again(run, model, &own);
    if (own.line > 0)
        tr_fail_again(err, &own, "%.200s:%d: %.250s", own.file[0] ? own.file : model, own.line,
                      own.text);
    else if (own.status)
        tr_fail(err, own.status, (Place){0}, "%s", own.text);
    *has_changed = system && model_sha256[0] && strcmp(system->source.sha256, model_sha256) != 0;
    return new_land(system, err);
}

void tr_land_free(Land *land)
{
    if (land) tr_height_free(&land->height);
    free(land);
}

// P = p + R (u, v, f(u, v)) is above x and y where
//   R_xy (u, v) = (x, y) - p_xy - f(u, v) R_xy,z
// found by putting u and v in again; on level ground the first is right.
double tr_land_height(Land *land, double x, double y)
{
    enum { MOST = 50 };
    const double *p = land->at, *R = land->rotation;
    const double det = R[0] * R[4] - R[1] * R[3];
    double u = 0, v = 0, f = 0, change = (double)INFINITY;
    for (int n = 0; n < MOST && change > 1e-12 * (1 + fabs(u) + fabs(v)); n++) {
        const double a = x - p[0] - f * R[2], b = y - p[1] - f * R[5];
        const double next[] = {(R[4] * a - R[1] * b) / det, (R[0] * b - R[3] * a) / det};
        change = fabs(next[0] - u) + fabs(next[1] - v);
        u = next[0], v = next[1];
        f = tr_height_at(&land->height, u, v);
        if (R[2] == 0 && R[5] == 0) break;
    }
    return p[2] + R[6] * u + R[7] * v + R[8] * f;
}
