// SPDX-License-Identifier: Apache-2.0
// Model files in model files: what of one is called how in another.
#ifndef TR_MODEL_INCLUDE_H
#define TR_MODEL_INCLUDE_H

#include "base/names.h"
#include "model/model.h"

// A name of the included file, and what it is in the including one: another name, or a formula
typedef struct Given {
    Value name, is;
    bool used;
} Given;

typedef struct Givens {
    Given *at;
    uint32_t count;
} Givens;

enum { NAME_KEPT, NAME_GONE }; // goes with what is bound

// How one copy of an included file calls its things
typedef struct Naming {
    Model *model; // whose memory is used
    tr_error *err;
    Text prefix, folder; // of names; of files: "sub/"
    const Names *own;    // names of the included file, kept or gone
    const Names *others; // names of the including one, which it may not use
    Givens bound, set;
    const Pairs *local; // keys that mean something in the thing that is being copied; NULL: none
    const Origin *read, *copy; // where places in the file are, as it was read and as it is copied
    size_t made;               // bytes of text
} Naming;

// Words that mean something in one formula alone
typedef struct Locals {
    const char *words; // "x y"; NULL: none
    Text head;         // or the arguments of "name(a, b)"
} Locals;

Given *tr_given(const Givens *givens, Text name); // or NULL

Place tr_place_copied(Naming *n, Place place);
// A formula or a name under the names of the including file.
Value tr_renamed(Naming *n, Value value, Locals locals);
// A name that the included file makes, in front of what else stands there.
Value tr_name_prefixed(Naming *n, Value name);
// A file name, from the folder of the model.
Value tr_file_moved(Naming *n, Value file);
Text tr_path_joined(Model *model, Text folder, Text name, tr_error *err);
// Whether it speaks of what is bound, and of nothing that is left.
bool tr_is_gone(const Naming *n, Text text);

// The name in a head: "ramp" of "ramp(t)".
Text tr_head_name(Text head);
bool tr_is_word(Text text); // letters, digits and _, and no digit in front

// Names that a file makes; of a naming some of them go.
bool tr_collect_names(const ModelFields *fields, const Naming *naming, Names *names, tr_error *err);
// A copy under the names of `n` comes into the including file, and its names to the others.
bool tr_copy_into(Naming *n, const ModelFields *from, ModelFields *into, Names *others);

// Files that the model includes become part of it.
bool tr_model_include(Model *model, const char *const *allowed, size_t allowed_count,
                      tr_error *err);
// A copy of a model that holds all that it includes.
Model *tr_model_flat(const Model *model, const char *const *allowed, size_t allowed_count,
                     tr_error *err);

#endif
