// SPDX-License-Identifier: Apache-2.0
// Operations that jump or have a kink, and what they depend on.
#ifndef TR_PLAN_JUMP_H
#define TR_PLAN_JUMP_H

#include "expr/walk.h"
#include "plan/chart_programs.h"

bool tr_is_jump(const Node *node);
// Whether a table's value or slope jumps from piece to piece along an axis
bool tr_is_broken(const Graph *graph, const Node *node, int axis);
// Whether its value does
bool tr_table_jumps(const Graph *graph, const Node *node);

// By id, of all that is reached: what it depends on.
enum { ON_STATE = 1, ON_TIME = 2 };
void tr_mark_dependence(const System *system, const Reach *reach, uint32_t *depends);

// What the rates of a chart, its motions and its constraints are made of
void tr_jump_roots(const System *reduced, const ChartPrograms *chart, Exprs *roots);

// A formula as words, "" where they would be long; NULL without memory. The caller frees them.
char *tr_jump_words(System *system, Expr x);

#endif
