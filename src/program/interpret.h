// SPDX-License-Identifier: Apache-2.0
// The portable evaluator: runs of equal instructions, each run a tight loop. It is always there,
// and it is the oracle of every faster one.
//
// A run is: code, count, then the operands of each instruction (tables: also the table and n).
// Results go to consecutive values in the order of execution, so they need no address. Code
// OP_FAILED ends it. The three operands of a multiply-add share 64 bits, unless the program is too
// large for that: then its code is marked WIDE.
#ifndef TR_PROGRAM_INTERPRET_H
#define TR_PROGRAM_INTERPRET_H

#include "program/program.h"

enum { WIDE = 1 << 15, PACKED_BITS = 21, PACKED_MASK = (1 << PACKED_BITS) - 1 };

// Orders the instructions into runs, longest first among those that are ready. False when memory
// runs out.
bool tr_schedule_runs(Program *program);

// The interpreter for this machine: the same source with and without hardware multiply-add.
Interpreter *tr_interpreter(void);

#endif
