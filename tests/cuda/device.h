// SPDX-License-Identifier: Apache-2.0
// What CUDA says, for a compiler of the host: so the text that a device gets is executed without
// one.
#include <math.h>

#define __CUDACC__
#define __CUDA_ARCH__ 900
#define __host__
#define __device__
#define __global__

static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dsub_rn(double a, double b) { return a - b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double __ddiv_rn(double a, double b) { return a / b; }
static inline double __dsqrt_rn(double a) { return sqrt(a); }
static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static struct ThreadIndex {
    unsigned x;
} blockIdx, blockDim, threadIdx;
