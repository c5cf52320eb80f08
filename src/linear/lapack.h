// SPDX-License-Identifier: Apache-2.0
// LAPACK, loaded when a linear model first needs it: what needs none of it does not wait for it,
// and does not depend on what it does to the process. OpenBLAS takes much memory as soon as it is
// there, and tries for ever where there is none; so its room is looked for before it is called.
#ifndef TR_LINEAR_LAPACK_H
#define TR_LINEAR_LAPACK_H

#include "base/error.h"

#include <lapacke.h>

// The functions that are used, one row each
#define LAPACK_FUNCTIONS(X) X(dgeevx) X(dgeev) X(dgees) X(dgges) X(dtrsyl)

typedef struct Lapack {
#define LAPACK_MEMBER(name) __typeof__(LAPACKE_##name) *name;
    LAPACK_FUNCTIONS(LAPACK_MEMBER)
#undef LAPACK_MEMBER
} Lapack;

// NULL, with words, when it is not installed or when memory does not suffice for it.
const Lapack *tr_lapack(tr_error *err);

#endif
