// SPDX-License-Identifier: Apache-2.0
// Shapes stand in the axes of their bodies (T5). They are for drawing and move nothing, but they
// are checked like everything else.
#include "mech/tree.h"

#include <math.h>

static void check_type(Tree *tree, const Shape *shape)
{
    static const char *const types[] = {"box",  "cylinder", "sphere", "capsule",
                                        "disc", "torus",    "mesh"};
    Suggestion nearest = {.wanted = shape->type.text};
    char hint[TR_HINT_SIZE];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (text_is(shape->type.text, types[i])) return;
        tr_suggest(&nearest, text_of(types[i]));
    }
    tr_fail(tree->err, TR_INVALID, shape->type.place, "unknown shape '%.*s'%s",
            TEXT(shape->type.text), tr_hint(&nearest, hint));
}

static void check_size(Tree *tree, Value value, Expr x, const char *what)
{
    if (!has_failed(tree->err) &&
        !tr_tree_is(tree, RULE_POSITIVE, x, value.place, "the %s of a shape is positive", what))
        tr_fail(tree->err, TR_INVALID, value.place, "the %s of a shape must be positive", what);
}

static void check_shape(Tree *tree, const Shape *shape)
{
    check_type(tree, shape);
    const Vec size = tr_tree_vector(tree, shape->size, "size");
    for (int i = 0; i < 3; i++) check_size(tree, shape->size, vec_at(size, i), "size");
    check_size(tree, shape->radius, tr_tree_formula(tree, shape->radius), "radius");
    check_size(tree, shape->length, tr_tree_formula(tree, shape->length), "length");
    const Expr tube = tr_tree_formula(tree, shape->tube);
    if (!has_failed(tree->err) && // 0 is a sharp edge
        !tr_tree_is(tree, RULE_NOT_NEGATIVE, tube, shape->tube.place,
                    "the tube of a shape is not negative"))
        tr_fail(tree->err, TR_INVALID, shape->tube.place,
                "the tube of a shape has a radius that is not negative");
    check_size(tree, shape->scale, tr_tree_formula(tree, shape->scale), "scale");
    tr_tree_unit(tree, shape->axis, "axis");
    tr_tree_vector(tree, shape->at, "at");
}

void tr_tree_shapes(Tree *tree)
{
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const Shapes *shapes = &tree->links[i].body->shapes;
        for (uint32_t k = 0; k < shapes->count && !has_failed(tree->err); k++)
            check_shape(tree, &shapes->at[k]);
    }
    if (!has_failed(tree->err)) tr_tree_meshes(tree);
}
