// SPDX-License-Identifier: Apache-2.0
// What a system looks like: numbers, and expressions of positions and time alone, so that any run
// can be drawn from its recorded coordinates.
#ifndef TR_EXPR_SCENE_H
#define TR_EXPR_SCENE_H

#include "expr/graph.h"

#define SCENE_WORLD UINT32_MAX // in place of a body

// A simple shape that is fixed to a body. Fields that its type has no use for hold defaults.
typedef struct Drawing {
    uint32_t body;
    const char *type;      // box, cylinder, sphere, capsule, disc, torus
    double at[3], axis[3]; // its middle [m], and a unit vector, in the body's axes
    double size[3];        // box: its edges [m]
    double radius, length; // torus: the outermost; capsule: without its round ends [m]
    double tube;           // torus [m]
    const char *colour;    // as CSS has it, or ""
    bool is_guessed;       // the model gave none
} Drawing;

typedef struct SceneBody {
    const char *name;
    uint32_t parent;                // or SCENE_WORLD
    double mass;                    // [kg]
    double com[3];                  // in its own axes [m]
    const char *joint, *coordinate; // its type; "" when it has no coordinate of its own
    double axis[3];                 // of the joint, in the body's axes; zero when it has none
    Expr origin[3], rotation[9];    // in the world; the rotation by rows, body -> world
    bool is_part;                   // a point or a piece of a beam, its parent, or a motor: no body
} SceneBody;

// Where an element acts on a body. The force there is the sum over its rows of the reaction
// lambda.<row> times the row's direction.
typedef struct SceneContact {
    const char *name, *kind;
    uint32_t body;
    bool leaves_track;
    Expr point[3]; // in the world
    uint32_t row_count;
    struct SceneRow {
        const char *name;  // "front.lateral"
        Expr direction[3]; // in the world
    } rows[3];
} SceneContact;

// A rod between points of two bodies, each in the axes of its body.
typedef struct SceneRod {
    const char *name;
    uint32_t body, on; // or SCENE_WORLD
    double at[3], to[3];
} SceneRod;

typedef struct Scene {
    SceneBody *bodies;
    SceneContact *contacts;
    SceneRod *rods;
    uint32_t body_count, contact_count, rod_count;
    Drawing *drawings;
    uint32_t drawing_count, drawing_capacity;
    double gravity[3]; // [m/s^2]
    double ground_at[3], ground_normal[3];
    bool has_ground;     // something touches it
    bool ground_is_free; // and nothing says how high it is: a model in the plane
    double length;       // the longest arm [m]
} Scene;

#endif
