// SPDX-License-Identifier: Apache-2.0
// A linear model from one instant to the next, while its inputs are held (T102). Where the results
// go may be the model itself.
#include "base/error.h"
#include "num/dense.h"
#include "num/exponential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// exp(step [A B; 0 0]) = [Ad Bd; 0 1]
static bool discretise(const tr_linear *linear, double step, double *Ad, double *Bd, tr_error *err)
{
    const uint32_t n = linear->states, m = linear->inputs, all = n + m;
    double *X = calloc((size_t)all * all + 1, sizeof *X);
    for (uint32_t i = 0; X && i < n; i++) {
        memcpy(X + (size_t)i * all, linear->A + (size_t)i * n, n * sizeof *X);
        memcpy(X + (size_t)i * all + n, linear->B + (size_t)i * m, m * sizeof *X);
    }
    bool good = X && tr_exponential(X, all, step, X);
    if (!good) tr_fail_memory(err);
    good = good && all_finite(X, (size_t)all * all);
    for (uint32_t i = 0; good && i < n; i++) {
        memcpy(Ad + (size_t)i * n, X + (size_t)i * all, n * sizeof *Ad);
        memcpy(Bd + (size_t)i * m, X + (size_t)i * all + n, m * sizeof *Bd);
    }
    free(X);
    if (!good) // unless memory ran out
        tr_fail(err, TR_FAILED, (Place){0},
                "the linear model has no finite values after a step of %.6g s", step);
    return good;
}

bool tr_linear_discretise(const tr_linear *linear, double step, double *A, double *B, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    if (!linear || has_failed(err)) return false;
    if (!(step > 0) || !isfinite(step)) {
        tr_fail(err, TR_USAGE, (Place){0}, "a step from one instant to the next is positive");
        return false;
    }
    return discretise(linear, step, A, B, err);
}
