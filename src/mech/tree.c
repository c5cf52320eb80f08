// SPDX-License-Identifier: Apache-2.0
// Room for the forest, and where its bodies and the model's frames stand (T5).
#include "mech/tree.h"

#include <stdlib.h>

// ---- room and names ------------------------------------------------------------------------

void *tr_tree_room(Tree *tree, size_t count, size_t size)
{
    void *at = tr_arena_alloc(&tree->graph->arena, count, size);
    if (!at) tree->graph->failed = true;
    return at;
}

Tree *tr_tree_copy(Tree *tree)
{
    Tree *copy = tr_tree_room(tree, 1, sizeof *copy);
    Link *links = tr_tree_room(tree, tree->link_count, sizeof *links);
    Velocity *velocities = tr_tree_room(tree, tree->velocity_count, sizeof *velocities);
    if (!copy || !links || !velocities) return NULL;
    *copy = *tree;
    copy->value = NULL, copy->value_count = copy->value_capacity = 0;
    memset(copy->samples, 0, sizeof copy->samples);
    copy->drifts = copy->standing = (Kept){0}, copy->drift_count = 0;
    copy->seen = (struct Seen){0}, copy->normals = copy->ups = NULL;
    copy->links = memcpy(links, tree->links, tree->link_count * sizeof *links);
    copy->velocities =
        memcpy(velocities, tree->velocities, tree->velocity_count * sizeof *velocities);
    return copy;
}

void tr_tree_forget(Tree *tree)
{
    free(tree->value);
    tree->value = NULL, tree->value_count = tree->value_capacity = 0;
    for (int i = 0; i < SAMPLES; i++) tr_kept_free(&tree->samples[i].kept);
    tr_kept_free(&tree->drifts);
    tr_kept_free(&tree->standing);
}

const char *tr_tree_text(Tree *tree, Text text)
{
    const char *kept = tr_arena_text(&tree->graph->arena, text.at, text.length);
    if (!kept) tree->graph->failed = true;
    return kept ? kept : "";
}

void tr_tree_check_name(Tree *tree, Value name, const char *what)
{
    if (!tr_formula_is_name(name.text) || memchr(name.text.at, '.', name.text.length))
        tr_fail(tree->err, TR_INVALID, name.place,
                "'%.*s' is not a name for %s: ASCII letters, digits and _", TEXT(name.text), what);
}

void tr_tree_check_reserved(Tree *tree, Value name)
{
    if (tr_formula_reserved(name.text))
        tr_fail(tree->err, TR_INVALID, name.place, "'%.*s' is a reserved name", TEXT(name.text));
}

// ---- places --------------------------------------------------------------------------------

// There is room for it.
void tr_tree_add_link(Tree *tree, Link link)
{
    if (!tr_names_add(&tree->link_names, link.body->name.text, tree->link_count))
        tree->graph->failed = true;
    if (!link.whole) link.written = link.by, link.whole = link.type;
    tree->links[tree->link_count++] = link;
}

uint32_t tr_tree_find(const Tree *tree, Text body)
{
    const uint32_t link = tr_names_find(&tree->link_names, body);
    return link == NO_NAME ? WORLD : link;
}

static const NamedFrame *frame_called(const Tree *tree, Text name)
{
    return tr_kind_find(tr_kind_of(TYPE_FRAMES), &tree->model->fields.frames, name);
}

bool tr_tree_is_frame(const Tree *tree, Text name) { return frame_called(tree, name) != NULL; }

uint32_t tr_tree_body(Tree *tree, Value name)
{
    const uint32_t i = tr_tree_find(tree, name.text);
    if (i != WORLD || text_is(name.text, "world") || text_is(name.text, "ground")) return i;
    if (frame_called(tree, name.text))
        tr_fail(tree->err, TR_INVALID, name.place, "'%.*s' is a frame; here stands a body",
                TEXT(name.text));
    Suggestion nearest = {.wanted = name.text};
    for (uint32_t k = 0; k < tree->link_count; k++)
        tr_suggest(&nearest, tree->links[k].body->name.text);
    const NamedFrames *frames = &tree->model->fields.frames;
    for (uint32_t k = 0; k < frames->count; k++) tr_suggest(&nearest, frames->at[k].name.text);
    char hint[TR_HINT_SIZE];
    tr_fail(tree->err, TR_INVALID, name.place, "there is no body '%.*s'%s", TEXT(name.text),
            tr_model_hint(tree->model, &nearest, hint));
    return WORLD;
}

Anchor tr_tree_anchor(Tree *tree, Value name)
{
    Anchor anchor = {WORLD, pose_identity(tree->graph)};
    const NamedFrame *frame = frame_called(tree, name.text);
    if (frame) return tree->frames[frame - tree->model->fields.frames.at];
    if (text_is(name.text, "ground"))
        anchor.pose = tree->ground;
    else
        anchor.link = tr_tree_body(tree, name);
    return anchor;
}

static void make_frame(Tree *tree, const NamedFrame *frame, Anchor *anchor)
{
    const Value name = frame->name;
    tr_tree_check_name(tree, name, "a frame");
    tr_tree_check_reserved(tree, name);
    if (tr_tree_find(tree, name.text) != WORLD)
        tr_fail(tree->err, TR_INVALID, name.place, "'%.*s' is a body already", TEXT(name.text));
    anchor->link = tr_tree_body(tree, frame->body);
    anchor->pose = (Pose){tr_tree_turned(tree, frame->turn), tr_tree_vector(tree, frame->at, "at")};
    if (text_is(frame->body.text, "ground"))
        anchor->pose = pose_product(tree->ground, anchor->pose);
}

void tr_tree_frames(Tree *tree)
{
    const NamedFrames *frames = &tree->model->fields.frames;
    tree->frames = tr_tree_room(tree, frames->count, sizeof *tree->frames);
    for (uint32_t i = 0; tree->frames && i < frames->count && !has_failed(tree->err); i++)
        make_frame(tree, &frames->at[i], &tree->frames[i]);
}

Pose tr_tree_world(Tree *tree, uint32_t i)
{
    if (i == WORLD) return pose_identity(tree->graph);
    Pose pose = tree->links[i].world;
    if (tree->links[i].carried) pose.R = turn_product(pose.R, tree->links[i].spin);
    return pose;
}
