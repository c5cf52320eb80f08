// SPDX-License-Identifier: Apache-2.0
// What runs a program: machine code where that can be had, else an interpreter. Made when it is
// first needed, once, whichever thread asks.
#ifndef TR_PROGRAM_EXECUTABLE_H
#define TR_PROGRAM_EXECUTABLE_H

#include "expr/system.h"
#include "program/program.h"

// One evaluation at a time, or a block of them.
typedef enum Way { WAY_ONE, WAY_LANES, WAY_COUNT } Way;

Executables *tr_executables_new(Evaluation how); // NULL when memory runs out
void tr_executables_free(Executables *executables);

// NULL when memory runs out.
const Executable *tr_executable(const Program *program, Way way);

#endif
