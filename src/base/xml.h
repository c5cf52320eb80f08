// SPDX-License-Identifier: Apache-2.0
// Files of elements and attributes, read by expat into a tree. Text between elements is left out.
// What strangers write is bounded: no document types, so there are no entities to grow, and no
// deeper than 60 levels.
#ifndef TR_BASE_XML_H
#define TR_BASE_XML_H

#include "base/arena.h"
#include "base/error.h"

typedef struct Xml Xml;
struct Xml {
    const char *name;
    const char *const *attributes; // name, value, name, value, ..., NULL
    Place at;
    const Xml *first, *next; // of what is in it; beside it
};

// The element that a file consists of, in an arena. TR_INVALID with the place where it is not XML,
// TR_FAILED where there is no expat.
const Xml *tr_xml_read(const char *text, size_t length, Arena *arena, tr_error *err);

// An attribute's value, or NULL
const char *tr_xml_value(const Xml *xml, const char *name);
// The first element of that name in it, or NULL; also of NULL
const Xml *tr_xml_child(const Xml *xml, const char *name);

#endif
