// SPDX-License-Identifier: Apache-2.0
// Programs as PTX: the operations of a list (program/flat.h) in its order, one by one, each with
// the bits that the interpreter gives (T460).
#ifndef TR_GPU_NODES_H
#define TR_GPU_NODES_H

#include "gpu/translate.h"
#include "program/flat.h"

enum { TABLE_LISTS = 5, TABLE_NAME = 32 };

// What nodes are on the GPU: of kind KIND_NONE while they have no value yet
typedef struct Nodes {
    const Flat *flat;
    Translation *translation;
    Value *value;    // by node
    uint32_t *angle; // by node: cells of it as an angle, for sines and cosines; 0 none
    bool *stays;     // by node: it has a value for good
    char (*names)[TABLE_LISTS][TABLE_NAME]; // of lists of tables
} Nodes;

bool tr_nodes_open(Nodes *nodes, const Flat *flat, Translation *translation);
void tr_nodes_close(Nodes *nodes);
// What these need and has no value yet is computed; each goes to its place as soon as it is there,
// where there are places.
void tr_nodes_make(Nodes *nodes, const uint32_t *wanted, uint32_t count, const Value *places);
// What has a value now keeps it; and what has not for good is forgotten.
void tr_nodes_keep(Nodes *nodes);
void tr_nodes_forget(Nodes *nodes);
// As a number in a register or known, wherever it comes from
Value tr_nodes_number(Nodes *nodes, uint32_t node);

// Tables of the list become lists of numbers, before anything is translated.
void tr_nodes_tables(Nodes *nodes, Words *words);

// What elementary functions and tables stand on, in C
void tr_nodes_words(Words *words);
// Functions that stand once beside the kernel, where there are calls
void tr_nodes_beside(Translation *translation, Buffer *out);

#endif
