// SPDX-License-Identifier: Apache-2.0
// Exported CUDA C++ of a model m as a library of C, called as that which is exported as C; `number`
// is double or float.

#include <stdlib.h>

#define IN(x)  ((const real *)(x))
#define OUT(x) ((real *)(x))
#define NAMES(list, count)                                                                     \
    m_name m_##list##_name[count + 1];                                                         \
    static int copy_##list(void)                                                               \
    {                                                                                          \
        for (int i = 0; i <= count; i++) ::m_##list##_name[i] = trundle_m::m_##list##_name[i]; \
        return 1;                                                                              \
    }                                                                                          \
    static const int are_copied_##list = copy_##list();

extern "C" {
NAMES(x, M_NX)
NAMES(u, M_NU)
NAMES(p, M_NP)
NAMES(y, M_NY)
NAMES(mode, M_NM)
NAMES(s, M_NS)
NAMES(c, M_NC)
NAMES(k, M_NK)
int m_jacobian_row[M_NJ + 1], m_jacobian_column[M_NJ + 1];

int are_all_copied(void);
int are_all_copied(void)
{
    return are_copied_x + are_copied_u + are_copied_p + are_copied_y + are_copied_mode +
           are_copied_s + are_copied_c + are_copied_k;
}

void m_parameters(number *p) { trundle_m::m_parameters(OUT(p)); }
void m_inputs(const number *p, number *u) { trundle_m::m_inputs(IN(p), OUT(u)); }
int m_initial(const number *p, number *x, int *mode, number *w)
{
    for (int k = 0; k < M_NJ; k++) {
        ::m_jacobian_row[k] = trundle_m::m_jacobian_row[k];
        ::m_jacobian_column[k] = trundle_m::m_jacobian_column[k];
    }
    return trundle_m::m_initial(IN(p), OUT(x), mode, OUT(w));
}
#define FUNCTION(name)                                                                          \
    void m_##name(number t, const number *x, const number *u, const number *p, const int *mode, \
                  number *y, number *w)                                                         \
    {                                                                                           \
        trundle_m::m_##name(t, IN(x), IN(u), IN(p), mode, OUT(y), OUT(w));                      \
    }
FUNCTION(rates)
FUNCTION(outputs)
FUNCTION(jacobian)
FUNCTION(indicators)
void m_speeds(number t, number *x, const number *u, const number *p, number *w)
{
    trundle_m::m_speeds(t, OUT(x), IN(u), IN(p), OUT(w));
}
void m_project(number t, number *x, const number *u, const number *p, const int *mode, number *w)
{
    trundle_m::m_project(t, OUT(x), IN(u), IN(p), mode, OUT(w));
}
int m_step(number t, number h, number *x, number *u, const number *p, int *mode, number *w)
{
    return trundle_m::m_step(t, h, OUT(x), OUT(u), IN(p), mode, OUT(w));
}
int m_event(number t, number *x, const number *u, const number *p, int *mode, number *w)
{
    return trundle_m::m_event(t, OUT(x), IN(u), IN(p), mode, OUT(w));
}
void m_chart(number t, number *x, const number *u, const number *p, int *mode, number *w)
{
    trundle_m::m_chart(t, OUT(x), IN(u), IN(p), mode, OUT(w));
}
number m_next_time(number t, number until, const number *x, const number *u, const number *p,
                   number *w)
{
    return (number)trundle_m::m_next_time(t, until, IN(x), IN(u), IN(p), OUT(w));
}
#ifdef SAMPLES
void m_periods(const number *p, number *period, number *w)
{
    trundle_m::m_periods(IN(p), OUT(period), OUT(w));
}
int m_sense(number t, number *x, const number *u, const number *p, const int *mode, number *s,
            number *w)
{
    return trundle_m::m_sense(t, OUT(x), IN(u), IN(p), mode, OUT(s), OUT(w));
}
int m_control(const int *due, number t, const number *s, number *c, number *u, const number *p,
              number *w)
{
    return trundle_m::m_control(due, t, IN(s), OUT(c), OUT(u), IN(p), OUT(w));
}
int m_sample(number t, number *x, number *u, const number *p, const int *mode, number *w)
{
    return trundle_m::m_sample(t, OUT(x), OUT(u), IN(p), mode, OUT(w));
}
#endif

// All threads of the kernel, one behind the other; or what they call
void m_all(size_t runs, size_t stride, int64_t first, int steps, number h, number *x, number *u,
           const number *p, int *fate);
void m_all(size_t runs, size_t stride, int64_t first, int steps, number h, number *x, number *u,
           const number *p, int *fate)
{
#ifdef __CUDACC__
    blockDim.x = 4;
    for (size_t k = 0; k < (runs + 3) / 4 * 4; k++) {
        blockIdx.x = (unsigned)k / 4, threadIdx.x = (unsigned)k % 4;
        m_go(runs, stride, first, steps, h, x, u, p, fate);
    }
#else
    for (size_t k = 0; k < runs; k++) m_run(k, stride, first, steps, h, x, u, p, fate);
#endif
}
}
