// SPDX-License-Identifier: Apache-2.0
// A program run as its list stands, one instruction after the other: slow, but nothing is made for
// it first.
#ifndef TR_PROGRAM_LIST_H
#define TR_PROGRAM_LIST_H

#include "program/program.h"

// Room for all values, with the constants in place; NULL when memory runs out. To be freed.
double *tr_list_room(const Program *program);
// Gives the bits that every executable gives.
void tr_list_run(const Program *program, const double *inputs, double *room, double *outputs);

#endif
