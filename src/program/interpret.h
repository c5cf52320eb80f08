// SPDX-License-Identifier: Apache-2.0
// The portable evaluator: runs of equal instructions, each run a tight loop. It is always there, and
// it is the oracle of every faster one.
//
// A run is: code, count, then the operands of each instruction (tables: also n). Results go to
// consecutive values in the order of execution, so they need no address. Code OP_FAILED ends it.
#ifndef TR_PROGRAM_INTERPRET_H
#define TR_PROGRAM_INTERPRET_H

#include "program/program.h"

// Orders the instructions into runs, longest first among those that are ready. False when memory
// runs out.
bool tr_schedule_runs(Program *program);

// The interpreter for this machine: the same source with and without hardware multiply-add.
Interpreter *tr_interpreter(void);

#endif
