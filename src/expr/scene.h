// SPDX-License-Identifier: Apache-2.0
// What a system looks like: numbers, and expressions of positions and time alone, so that any run
// can be drawn from its recorded coordinates.
#ifndef TR_EXPR_SCENE_H
#define TR_EXPR_SCENE_H

#include "expr/graph.h"

#define SCENE_WORLD UINT32_MAX // in place of a body

// Triangles of a file, about the middle of their box, in its units.
typedef struct SceneMesh {
    const char *file;
    const float *points; // x y z of each
    const uint32_t *corners;
    uint32_t point_count, triangle_count;
    double middle[3], size[3]; // of the box
} SceneMesh;

// A simple shape that is fixed to a body. Fields that its type has no use for hold defaults.
typedef struct Drawing {
    uint32_t body;         // or SCENE_WORLD
    const char *type;      // box, cylinder, sphere, capsule, disc, torus, mesh
    double at[3], axis[3]; // its middle [m], and a unit vector, in the body's axes
    double size[3];        // box: its edges; mesh: those of the box around it [m]
    double radius, length; // torus: the outermost; capsule: without its round ends [m]
    double tube;           // torus [m]
    uint32_t mesh;         // among those of the scene
    double scale;          // of the mesh: a metre for one of its units
    const char *colour;    // as CSS has it, or ""
    bool is_guessed;       // the model gave none
    bool is_shell;         // a sphere that something is inside of
} Drawing;

typedef struct SceneBody {
    const char *name;
    uint32_t parent;                // or SCENE_WORLD
    double mass;                    // [kg]
    double com[3];                  // in its own axes [m]
    const char *joint, *coordinate; // its type; "" when it has no coordinate of its own
    double axis[3];                 // of the joint, in the body's axes; zero when it has none
    double joint_at[3];             // where that stands, in the body's axes [m]
    Expr origin[3], rotation[9];    // in the world; the rotation by rows, body -> world
    Expr stretch, stiffness;        // of its joint's spring, beyond its rest; id 0: it has none
    bool is_part;                   // a motor, a point or a piece of a beam: no body by itself
} SceneBody;

enum { SCENE_ROWS = 6 }; // at most

// A height over the x and y of its axes, which contacts are on: the ground, or one on a body.
typedef struct SceneTerrain {
    uint32_t on;               // or SCENE_WORLD
    double at[3], rotation[9]; // of its axes in those; the rotation by rows
    Expr height, symbol[2];    // by symbols for x and y
} SceneTerrain;

#define NO_TERRAIN UINT32_MAX
#define NO_TOUCH   UINT32_MAX

// Where an element acts on a body: a contact, a loop or a joint that was cut. The force there is
// the sum over its rows of the reaction lambda.<row> times the row's direction, and so is the
// moment.
typedef struct SceneContact {
    const char *name, *kind;
    uint32_t body, on; // on SCENE_WORLD: on the ground, too
    bool leaves_track, is_loop;
    // Of a loop: its point in the axes of either body [m], and its axis there, zero when it has
    // none
    double at[3], to[3], axis[3], guide[3];
    const char *coordinate; // of a joint that was cut; "" when it is not one, or has none
    uint32_t terrain;       // that it is on, or NO_TERRAIN
    uint32_t
        touch;     // there: the first of two inputs that say where, or NO_TOUCH: where its point is
    Expr point[3]; // in the world
    // Of what touches a surface: how far it is from that, and the surface's normal, in the world;
    // id 0 where nothing can open. Friction's coefficient; id 0 where the model gives none
    Expr gap, normal[3], friction;
    Expr middle[3], radius; // of a wheel or a ball, in the world; of anything else its point
    Expr across[3]; // what it bears nothing along, in the world: across a roller; id 0 elsewhere
    uint32_t row_count;
    bool has_moment;
    struct SceneRow {
        const char *name;  // "front.lateral"
        Expr direction[3]; // in the world
        bool is_moment;
    } rows[SCENE_ROWS];
} SceneContact;

// A rod between points of two bodies, each in the axes of its body.
typedef struct SceneRod {
    const char *name;
    uint32_t body, on; // or SCENE_WORLD
    double at[3], to[3];
} SceneRod;

// A beam as a tube from its root through the origins of its parts, along their x.
typedef struct SceneBeam {
    uint32_t body;
    uint32_t first, count; // of its parts, among the bodies
    double radius;         // [m]
} SceneBeam;

typedef struct Scene {
    SceneBody *bodies;
    SceneContact *contacts;
    SceneRod *rods;
    SceneBeam *beams;
    SceneTerrain *terrains;
    uint32_t body_count, contact_count, rod_count, beam_count, terrain_count;
    Drawing *drawings;
    uint32_t drawing_count, drawing_capacity;
    SceneMesh *meshes;
    uint32_t mesh_count;
    double gravity[3]; // [m/s^2]
    double ground_at[3], ground_normal[3];
    bool has_ground;     // something touches it
    bool ground_is_free; // and nothing says how high it is: a model in the plane
    double length;       // the longest arm [m]
} Scene;

#endif
