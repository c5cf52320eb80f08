// SPDX-License-Identifier: Apache-2.0
#include "view/terrain.h"

#include <stdlib.h>

// ---- the height ----------------------------------------------------------------------------

bool tr_height_make(Height *height, const System *described, uint32_t terrain, tr_error *err)
{
    *height = (Height){0};
    System *system = tr_system_copy(described, err);
    if (!system) return false;
    const SceneTerrain *t = &system->scene.terrains[terrain];
    for (int k = 0; k < 2; k++)
        height->symbol[k] = (uint32_t)(tr_system_input(system, t->symbol[k]) - system->inputs);
    height->inputs = calloc(system->input_count, sizeof *height->inputs);
    if (!height->inputs) tr_fail_memory(err);
    for (uint32_t i = 0; height->inputs && i < system->input_count; i++)
        height->inputs[i] = system->inputs[i].value;
    height->formula = tr_evaluator_of(system, &t->height, 1, FIXED_PARAMETERS, err);
    tr_system_free(system);
    if (!has_failed(err)) return true;
    tr_height_free(height);
    return false;
}

void tr_height_free(Height *height)
{
    tr_evaluator_free(&height->formula);
    free(height->inputs);
    *height = (Height){0};
}

double tr_height_at(Height *height, double x, double y)
{
    double out;
    height->inputs[height->symbol[0]] = x, height->inputs[height->symbol[1]] = y;
    evaluate_into(&height->formula, height->inputs, &out);
    return out;
}

// ---- on a grid -----------------------------------------------------------------------------

enum { COARSEST = 8 }; // cells of the finest grid in one of the coarsest, along either side

static double at_node(const HeightMap *map, uint32_t i, uint32_t k)
{
    return map->heights[(size_t)k * map->count[0] + i];
}

// How far a node is from the plane, nearly, through the corners of a cell that is `every` nodes
// wide
static double error_at(const HeightMap *fine, uint32_t every, uint32_t i, uint32_t k)
{
    const uint32_t left = i / every * every, low = k / every * every;
    const uint32_t right = left < i ? left + every : left, high = low < k ? low + every : low;
    const double s = (double)(i - left) / every, t = (double)(k - low) / every;
    const double below = (1 - s) * at_node(fine, left, low) + s * at_node(fine, right, low),
                 above = (1 - s) * at_node(fine, left, high) + s * at_node(fine, right, high);
    const double error = fabs((1 - t) * below + t * above - at_node(fine, i, k));
    return isfinite(error) ? error : (double)INFINITY; // the edge of a hole is drawn as it is
}

static bool is_enough(const HeightMap *fine, uint32_t every, double tolerance)
{
    for (uint32_t k = 0; k < fine->count[1]; k++)
        for (uint32_t i = 0; i < fine->count[0]; i++)
            if (error_at(fine, every, i, k) > tolerance) return false;
    return true;
}

static void thin(HeightMap *map, uint32_t every)
{
    const uint32_t count[] = {(map->count[0] - 1) / every + 1, (map->count[1] - 1) / every + 1};
    for (uint32_t k = 0; k < count[1]; k++)
        for (uint32_t i = 0; i < count[0]; i++)
            map->heights[(size_t)k * count[0] + i] = at_node(map, i * every, k * every);
    for (int k = 0; k < 2; k++) map->count[k] = count[k];
    map->step *= every;
}

static double relief(const HeightMap *map)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < (size_t)map->count[0] * map->count[1]; i++) {
        if (!isfinite(map->heights[i])) continue;
        least = fmin(least, map->heights[i]), most = fmax(most, map->heights[i]);
    }
    return most > least ? most - least : 0;
}

bool tr_height_map_make(HeightMap *map, Height *height, const double low[2], const double high[2],
                        double exact, tr_error *err)
{
    const double longest = fmax(high[0] - low[0], high[1] - low[1]);
    *map = (HeightMap){.step = longest / MAP_CELLS};
    for (int k = 0; k < 2; k++) {
        const double parts = ceil((high[k] - low[k]) / (COARSEST * map->step) - 1e-9);
        map->count[k] = COARSEST * (uint32_t)fmax(1, parts) + 1;
        map->corner[k] = (low[k] + high[k] - map->step * (map->count[k] - 1)) / 2;
    }
    double *next = map->heights = calloc((size_t)map->count[0] * map->count[1], sizeof *next);
    if (!map->heights) return tr_fail_memory(err), false;
    for (uint32_t k = 0; k < map->count[1]; k++)
        for (uint32_t i = 0; i < map->count[0]; i++)
            *next++ = tr_height_at(height, map->corner[0] + map->step * i,
                                   map->corner[1] + map->step * k);
    const double steep = longest / 5; // more than this is no relief but a wall
    const double tolerance = fmax(exact * fmin(steep, relief(map)), 1e-9 * longest);
    uint32_t every = COARSEST;
    while (every > 1 && !is_enough(map, every, tolerance)) every /= 2;
    thin(map, every);
    return true;
}

void tr_height_map_free(HeightMap *map)
{
    free(map->heights);
    *map = (HeightMap){0};
}
