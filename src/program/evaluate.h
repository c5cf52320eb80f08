// SPDX-License-Identifier: Apache-2.0
// Workspaces of several lanes, and evaluating in two parts: what parameters alone decide, once for
// each set of them, and the rest. Every way gives the bits of tr_evaluate.
#ifndef TR_PROGRAM_EVALUATE_H
#define TR_PROGRAM_EVALUATE_H

#include "program/program.h"

// Room for several evaluations beside each other; by the program's own executable for that, or by
// another one of the same program, which must outlive it, too.
tr_workspace *tr_workspace_lanes(const Program *program, uint32_t lanes, tr_error *err);
tr_workspace *tr_workspace_on(const Program *program, const Executable *executable, uint32_t lanes,
                              tr_error *err);

// Takes parameters from the inputs, a row for each lane, and runs what they alone decide.
void tr_workspace_prepare(const Program *program, tr_workspace *workspace, const double *inputs);
// The outputs of each lane with the parameters that it was prepared with, whatever the inputs say
// about these. The workspace must be prepared, and stays so until another call evaluates in it.
void tr_evaluate_prepared(const Program *program, tr_workspace *workspace, const double *inputs,
                          double *outputs);

// Room for one block, of as many lanes as the program's executable for lanes has side by side. It
// is filled and looked at in place.
tr_workspace *tr_workspace_block(const Program *program, tr_error *err);
uint32_t tr_block_lanes(const tr_workspace *block);
double *tr_block_input(const tr_workspace *block, uint32_t input); // of each lane
const double *tr_block_output(const tr_workspace *block, uint32_t output);
void tr_block_run(const tr_workspace *block, ProgramPart part);

#endif
