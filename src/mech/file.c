// SPDX-License-Identifier: Apache-2.0
// Files that a model names. They stand beside it, and are part of what it is.
#include "mech/tree.h"

#include "base/beside.h"

#include <stdlib.h>

enum { MOST_BYTES = 1 << 28 }; // of all files of a model

// Names it among those that the system was made from.
static void note_file(Tree *tree, const char *path, size_t bytes)
{
    struct Source *source = &tree->system->source;
    source->file_bytes += bytes;
    const uint32_t count = source->file_count;
    const char **grown = tr_tree_room(tree, count + 1u, sizeof *grown);
    const char *kept = tr_arena_text(&tree->graph->arena, path, strlen(path));
    if (!kept) tree->graph->failed = true;
    if (!grown || !kept) return;
    if (count) memcpy(grown, source->files, count * sizeof *grown);
    grown[count] = kept;
    source->files = grown, source->file_count = count + 1;
}

char *tr_tree_file(Tree *tree, Value file, size_t *length)
{
    const Model *model = tree->model;
    const Beside where = {model->path, model->allowed, model->allowed_count};
    struct Source *source = &tree->system->source;
    if (has_failed(tree->err)) return NULL;
    tr_error why = {0};
    char *path, *text = tr_beside_read(&where, file.text, MOST_BYTES - source->file_bytes, length,
                                       &path, &why);
    if (text) note_file(tree, path, *length);
    if (text) tr_sha256_add(&source->content, text, *length);
    free(path);
    if (why.status) tr_fail(tree->err, why.status, file.place, "%s", why.text);
    return text;
}

void tr_tree_refuse_file(Tree *tree, Value file, const tr_error *why)
{
    if (why->line)
        tr_fail(tree->err, why->status, file.place, "'%.*s', line %d: %s", TEXT(file.text),
                why->line, why->text);
    else if (why->status == TR_NO_MEMORY)
        tr_fail_memory(tree->err);
    else if (why->status)
        tr_fail(tree->err, TR_INVALID, file.place, "'%.*s' %s", TEXT(file.text), why->text);
}
