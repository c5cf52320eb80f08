// SPDX-License-Identifier: Apache-2.0
// Expressions of a system -> program.
#ifndef TR_PROGRAM_COMPILE_H
#define TR_PROGRAM_COMPILE_H

#include "expr/system.h"
#include "program/program.h"

// A program for these expressions, in this order. It takes all inputs of the system, which is the
// caller's own: nodes are added to it. What is defined is replaced by its definition. TR_USAGE when
// one depends on what only reduction gives.
Program *tr_compile_values(System *system, const Expr *values, size_t count, bool fix_parameters,
                           tr_error *err);
// Of the outputs named in a list.
Program *tr_compile_names(System *system, const char *outputs, bool fix_parameters, tr_error *err);

// What a parameter that stays open is certain to be, so that structure still folds.
typedef enum Fold { FOLD_NOTHING, FOLD_ZERO, FOLD_ONE, FOLD_MINUS_ONE } Fold;

// The pattern of the parameters among these inputs: one Fold for each input.
void tr_fold_pattern(const System *system, const double *inputs, uint8_t *fold);

// The same with parameters open: they are inputs, but for those that a pattern gives away, one Fold
// for each input of the system (NULL: none). What such a parameter is among the inputs does not
// matter.
Program *tr_compile_open(System *system, const Expr *values, size_t count, const uint8_t *fold,
                         tr_error *err);

#endif
